"""The loop is as long as its script asked, and went to the end that it planned."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.observation import Known
from affidavit.fact.values import Value
from affidavit.record.ranks import written

NEEDS = ("loop.planned_steps", "loop.epochs", "loop.steps", "loop.ended")
CLOSE = 1e-6


def is_planned(steps: Value) -> bool:
    return isinstance(steps, int) and steps > 0


@check(
    "loop-as-planned",
    needs=NEEDS,
    when=(("loop.planned_steps", is_planned),),
    landmine=Landmine.RESULT,
    unaffected="each step that was taken",
)
def loop_as_planned(case: Case) -> Outcome:
    """Epochs that were asked for give way to a number of steps without a word, or are counted by the wrong length.

    A plan that forgets the last, smaller step of an epoch, or that rows are accumulated, ends early; data that stream
    may end before the plan does. The loss curve looks finished each time. A loop that a callback stopped is no
    contradiction, nor is one that has not ended.

    Source: hf-stack-spike §4 (5 epochs and 3 steps: 3 steps); corpus L3-06, L3-32, L3-33. Blind to: the length of a
    stream; epochs where nobody counts micro-batches.
    """
    examined = 0
    for ranks, (planned, epochs, steps, ended) in case.by_rank(*NEEDS):
        assert isinstance(planned, int) and isinstance(epochs, float)
        wished, passes = (case.request(term, rank=ranks[0]) for term in NEEDS[:2])
        expected = saw = ""
        if wished is not None and wished.value != planned:
            expected, saw = f"{wished.value} steps ({wished.source})", f"{planned} planned"
        elif passes is not None and not _are_kept(passes, epochs, planned):
            expected = f"{float(str(passes.value)):g} epochs ({passes.source})"
            saw = f"{epochs:g} epochs in {planned} planned steps"
        elif ended == "data ran out" or (ended == "as planned" and int(str(steps)) < planned):
            expected, saw = f"{planned} steps", f"{steps} steps, {ended}"
        if expected:
            return Fail(
                expected=expected,
                saw=f"{saw} ({case.source('loop.epochs')}, rank {written(ranks)})",
                means="The training is shorter or longer than its script says, and so is the learning-rate schedule.",
                sites=(Site(key="loop.planned_steps", rank=ranks[0]),),
            )
        examined += 1
    return Pass(examined)


def _are_kept(request: Known, epochs: float, planned: int) -> bool:
    """Say whether planned steps are the fewest that come to the epochs asked for; unknown epochs contradict nothing."""
    asked = request.value
    assert isinstance(asked, float)
    return not epochs or epochs * (planned - 1) / planned < asked <= epochs + CLOSE


@loop_as_planned.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "loop.planned_steps": 12,
        "loop.epochs": 3.0,
        "loop.steps": 12,
        "loop.ended": "as planned",
    }
    return case_of(run=run, asked={"loop.planned_steps": 12, "loop.epochs": 3.0}, ranks=2)


@loop_as_planned.sabotage("another number of steps was asked for")
def _(case: Case) -> Case:
    return case.asked("loop.planned_steps", case.value("loop.planned_steps")).falsified("loop.planned_steps")


@loop_as_planned.sabotage("the plan comes to half of the epochs that were asked for")
def _(case: Case) -> Case:
    return case.asked("loop.epochs", 8.0).altered("loop.epochs", 4.0)


@loop_as_planned.sabotage("the data ran out on the last rank")
def _(case: Case) -> Case:
    return case.altered("loop.ended", "data ran out", rank=-1)


@loop_as_planned.sabotage("fewer steps were taken than it says")
def _(case: Case) -> Case:
    ended = case.value("loop.ended") == "as planned"
    return (case if ended else case.altered("loop.ended", "as planned")).altered("loop.steps", 0)
