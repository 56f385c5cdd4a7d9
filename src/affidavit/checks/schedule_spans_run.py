"""A schedule ends where the run ends, not halfway and not somewhere behind it."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Series, Tally, Value
from affidavit.record.ranks import written

NEEDS = ("schedule.length", "schedule.warmup_steps", "schedule.steps_ahead", "schedule.moves", "schedule.rates")
OVER = 1.05
UNDER = 0.9
"""How far a run may go over its schedule, and how much of it a run must cover: rounding and skipped steps."""
IDLE = 0.1
"""The share of a run that may pass at a rate of zero when it has been higher before."""


@check(
    "schedule-spans-run",
    needs=NEEDS,
    when=(("schedule.kind", lambda kind: kind != "none"),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the data, the masks of the loss",
)
def schedule_spans_run(case: Case) -> Outcome:
    """A scheduler that moves more often than the optimizer is at its end early, and the rest of the run learns little.

    A prepared scheduler moves once for each rank; a length that was counted in batches is never reached where batches
    are accumulated. No message says either.

    Source: corpus L3-12 to L3-15. Blind to: a length that only the author's own function knows, as long as its rate
    is not zero; a loop without a plan that stops early, since nobody can tell that from a short run.
    """
    examined = 0
    for ranks, (length, warmup, planned, moves, rates) in case.by_rank(*NEEDS):
        assert isinstance(length, int) and isinstance(warmup, int) and isinstance(planned, int)
        assert isinstance(moves, Tally) and isinstance(rates, Series)
        before, done = moves["moves before"], moves["scheduler moves"]
        so_far, (least, most) = before + done, moves_planned(planned, moves)
        saw = ""
        if length and warmup >= length:
            saw = f"a warm-up of {warmup:,} moves, so that it is at its end before it is at its peak"
        elif length and so_far > OVER * length + 1:
            saw = f"{so_far:,} moves by step {rates.x[-1]:,}: {moves_per_step(moves):g} for each step"
        elif length and planned and done and (most < UNDER * length - 1 or least > OVER * length + 1):
            saw = f"{most:,} moves in {planned:,} planned steps: {moves_per_step(moves):g} for each step"
        elif (idle := _idle(rates)) > IDLE and rates.x[-1] - rates.x[0] >= 1 / IDLE:
            saw = f"a rate of zero in the last {idle:.0%} of the steps"
        if saw:
            return Fail(
                expected=f"a schedule of {length:,} moves that ends with the run ({case.source('schedule.length')})"
                if length
                else "a schedule that ends with the run",
                saw=f"{saw} (rank {written(ranks)})",
                means="The learning rate was not where the schedule would have it at any time of the run.",
                sites=(Site(key="schedule.moves", rank=ranks[0]),),
            )
        examined += len(rates.x)
    return Pass(examined)


def moves_per_step(moves: Tally) -> float:
    """Return how often the scheduler moves for one step of the optimizer; 0 where it has not moved yet."""
    return moves["scheduler moves"] / moves["optimizer steps"] if moves["optimizer steps"] else 0.0


def moves_planned(planned: int, moves: Tally) -> tuple[int, int]:
    """Return between how many moves the scheduler will stand at the planned end of the run.

    One that moves at every step is known exactly. One that moves more seldom, once an epoch or not where a step was
    skipped, is known up to a move in what was seen; before there is a second step, it is taken to move at each.
    """
    before, done, steps = moves["moves before"], moves["scheduler moves"], moves["optimizer steps"]
    if not steps:
        return before + planned, before + planned
    fewer, more = (done, done) if done >= steps else (max(done - 1, 0), done + 1)
    return before + planned * fewer // steps, before + -(-planned * more // steps)


def _idle(rates: Series) -> float:
    """Return the share of the run that passed at a rate of zero at its end, where the rate was higher before."""
    used = [step for step, rate in zip(rates.x, rates.y) if rate]
    if not used:
        return 0.0
    return (rates.x[-1] - used[-1]) / max(rates.x[-1] - rates.x[0], 1)


@schedule_spans_run.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "schedule.kind": "cosine",
        "schedule.length": 100,
        "schedule.warmup_steps": 10,
        "schedule.steps_ahead": 100,
        "schedule.moves": Tally.count("moves", {"moves before": 0, "optimizer steps": 99, "scheduler moves": 99}),
        "schedule.rates": Series((1, 50, 99, 100), (5e-5, 2.5e-5, 2e-7, 1e-7), "learning rate"),
    }
    return case_of(run=run, ranks=2)


@schedule_spans_run.sabotage("the scheduler moves once for each of many ranks")
def _(case: Case) -> Case:
    return case.altered("schedule.moves", lambda moves: moves.plus("scheduler moves", 1_000_000)).altered(
        "schedule.length", lambda length: length + 1 if length else 100
    )


@schedule_spans_run.sabotage("the last rank's schedule is longer than its run")
def _(case: Case) -> Case:
    moving = {"moves before": 0, "optimizer steps": 10, "scheduler moves": 10}
    short = case.altered("schedule.steps_ahead", 11, rank=-1).altered("schedule.length", 1_000, rank=-1)
    return short.altered("schedule.moves", Tally.count("moves", moving), rank=-1)


@schedule_spans_run.sabotage("the last rank's warm-up is longer than its schedule")
def _(case: Case) -> Case:
    longer = case.altered("schedule.length", lambda length: (length or 100) + 1, rank=-1)
    return longer.altered("schedule.warmup_steps", 1_000_000, rank=-1)


@schedule_spans_run.sabotage("the last half of the run was spent at a rate of zero")
def _(case: Case) -> Case:
    return case.altered("schedule.rates", Series((1, 50, 100), (1e-4, 1e-4, 0.0), "learning rate"))
