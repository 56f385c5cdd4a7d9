"""The schedule that was asked for moves the rate, and never above the rate that was asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.checks.optimizer_as_requested import is_any
from affidavit.fact.values import Series, Table, Value
from affidavit.record.ranks import written

NEEDS = ("schedule.kind", "schedule.warmup_steps", "schedule.rates", "optimizer.groups")
ABOVE = 1.001
"""How far over the rate that was asked for a step may be: rounding, and nothing else."""


@check(
    "schedule-as-requested",
    needs=NEEDS,
    when=(("schedule.asked", is_any),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the data, the masks of the loss",
)
def schedule_as_requested(case: Case) -> Outcome:
    """A schedule in the arguments is not the one that runs where another is passed in, or an engine brings its own.

    An engine's schedule may also bring a peak of its own; then each step is larger than anybody asked for.

    Source: anchors-provenance §1b; corpus L2-08 to L2-12. Blind to: a schedule of the right name and the wrong shape,
    whose end "schedule-spans-run" looks at.
    """
    examined = 0
    for ranks, (kind, warmup, rates, groups) in case.by_rank(*NEEDS):
        assert isinstance(rates, Series) and isinstance(groups, Table)
        highest = max(rates.y, default=0.0)
        own = [float(rate) for rate in groups.column("learning_rate")]
        for rank in ranks:
            wrong: list[tuple[str, str, str]] = []
            for need, value in (("schedule.kind", kind), ("schedule.warmup_steps", warmup)):
                request = case.request(need, rank=rank)
                examined += request is not None
                if request is not None and request.value != value:
                    word = need.partition(".")[2].replace("_", " ")
                    wrong.append((need, f"{word} {request.value} ({request.source})", f"{word} {value}"))
            request = case.request("optimizer.learning_rate", rank=rank)
            examined += request is not None
            if request is not None and highest > ABOVE * max(float(request.value), *own):  # type: ignore[arg-type]
                saw = f"a rate of {highest:g} in step {rates.x[rates.y.index(highest)]}"
                wrong.append(("schedule.rates", f"no rate above {request.value:g} ({request.source})", saw))
            if wrong:
                source = f"{case.source('schedule.kind')}, rank {written((rank,))}"
                return Fail(
                    expected=", ".join(asked for _, asked, _ in wrong),
                    saw=f"{', '.join(saw for _, _, saw in wrong)} ({source})",
                    means="The steps were as large as another schedule made them.",
                    sites=tuple(Site(key=need, rank=rank) for need, _, _ in wrong),
                )
    return Pass(examined)


@schedule_as_requested.healthy
def _() -> Case:
    columns = ("groups", "tensors", "elements", "vectors", "learning_rate", "weight_decay", "path")
    run: dict[str, Value] = {
        "schedule.asked": ("kind", "learning_rate", "warmup_steps"),
        "schedule.kind": "cosine",
        "schedule.warmup_steps": 2,
        "schedule.rates": Series((1, 2, 3, 4, 5), (0.0, 2.5e-5, 5e-5, 4e-5, 2e-5), "learning rate"),
        "optimizer.learning_rate": 5e-5,
        "optimizer.groups": Table(columns, ((1, 10, 1000, 0, 5e-5, 0.1, "fused"),)),
    }
    asked: dict[str, Value] = {"schedule.kind": "cosine", "schedule.warmup_steps": 2, "optimizer.learning_rate": 5e-5}
    return case_of(run=run, asked=asked, ranks=2)


@schedule_as_requested.sabotage("another schedule was asked for on the last rank")
def _(case: Case) -> Case:
    return case.asked("schedule.kind", "somebody_elses", rank=-1)


@schedule_as_requested.sabotage("another warm-up was asked for")
def _(case: Case) -> Case:
    warmup = case.value("schedule.warmup_steps")
    assert isinstance(warmup, int)
    return case.asked("schedule.warmup_steps", warmup + 1)


@schedule_as_requested.sabotage("a step is larger than anybody asked for")
def _(case: Case) -> Case:
    return case.asked("optimizer.learning_rate", 5e-6).altered("schedule.rates", lambda r: r.at(r.x[-1], 1e6))
