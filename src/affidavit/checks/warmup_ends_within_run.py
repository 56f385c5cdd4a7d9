"""A warm-up is over before the run is."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.checks.schedule_spans_run import moves_planned
from affidavit.fact.values import Series, Tally, Value
from affidavit.record.ranks import written

NEEDS = ("schedule.warmup_steps", "schedule.steps_ahead", "schedule.moves", "schedule.rates")


def is_some(count: Value) -> bool:
    return isinstance(count, int) and count > 0


@check(
    "warmup-ends-within-run",
    needs=NEEDS,
    when=(("schedule.warmup_steps", is_some), ("schedule.steps_ahead", is_some)),
    landmine=Landmine.RESULT,
    unaffected="the attention, the data, the masks of the loss",
)
def warmup_ends_within_run(case: Case) -> Outcome:
    """A warm-up that is longer than the run never reaches the rate that was asked for: a copied 100 in a run of 60.

    The loss falls all the same, only less, and the model is called hard to teach.

    Source: hf-stack-spike §4 (a warm-up of 100 steps in a run of 4). Blind to: a loop that does not say how long it is.
    """
    examined = 0
    for ranks, (warmup, planned, moves, rates) in case.by_rank(*NEEDS):
        assert isinstance(warmup, int) and isinstance(planned, int)
        assert isinstance(moves, Tally) and isinstance(rates, Series)
        _, end = moves_planned(planned, moves)
        # The last step uses the rate from before the last move.
        if warmup > end - 1 and moves["moves before"] < warmup:
            highest = max(rates.y, default=0.0)
            return Fail(
                expected=f"a warm-up of {warmup:,} moves within the run ({case.source('schedule.warmup_steps')})",
                saw=f"{planned:,} planned steps, {end:,} moves; the highest rate so far is {highest:g}"
                f" (rank {written(ranks)})",
                means="The run never uses the rate that its optimizer was given.",
                sites=(Site(key="schedule.warmup_steps", rank=ranks[0]),),
            )
        examined += planned
    return Pass(examined)


@warmup_ends_within_run.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "schedule.warmup_steps": 2,
        "schedule.steps_ahead": 6,
        "schedule.moves": Tally.count("moves", {"moves before": 0, "optimizer steps": 1, "scheduler moves": 1}),
        "schedule.rates": Series((1, 2), (0.0, 2.5e-5), "learning rate"),
    }
    return case_of(run=run, ranks=2)


@warmup_ends_within_run.sabotage("the warm-up is longer than the run")
def _(case: Case) -> Case:
    return case.altered("schedule.warmup_steps", 1_000_000)


@warmup_ends_within_run.sabotage("on the last rank the run is shorter than the warm-up")
def _(case: Case) -> Case:
    return case.altered("schedule.steps_ahead", 1, rank=-1).altered("schedule.warmup_steps", 1_000, rank=-1)
