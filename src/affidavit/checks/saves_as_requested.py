"""Checkpoints are written as often as was asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Value
from affidavit.record.ranks import written

ENDED = "as planned"


def is_whole(ended: Value) -> bool:
    return ended == ENDED


@check(
    "saves-as-requested",
    needs=("loop.saves",),
    when=(("loop.ended", is_whole),),
    landmine=Landmine.RESULT,
    unaffected="the weights that were trained",
)
def saves_as_requested(case: Case) -> Outcome:
    """A cadence that was asked for can be switched off by another argument, or by a callback that vetoes saving.

    It is noticed when a checkpoint is needed: after the crash, or when the best of them is looked for.

    Source: corpus L2-14. Blind to: checkpoints that the script writes by itself; what is in them.
    """
    examined = 0
    for ranks, saves in case.values("loop.saves"):
        asked = case.request("loop.saves", rank=ranks[0])
        if asked is not None and int(str(saves)) < int(str(asked.value)):
            return Fail(
                expected=f"{asked.value} checkpoints or more ({asked.source})",
                saw=f"{saves} ({case.source('loop.saves')}, rank {written(ranks)})",
                means="There is nothing to go back to where the script meant to have it.",
                sites=(Site(key="loop.saves", rank=ranks[0]),),
            )
        examined += 1
    return Pass(examined)


@saves_as_requested.healthy
def _() -> Case:
    return case_of(run={"loop.saves": 4, "loop.ended": ENDED}, asked={"loop.saves": 3}, ranks=2)


@saves_as_requested.sabotage("a callback vetoes every save")
def _(case: Case) -> Case:
    saves = case.value("loop.saves")
    return case.asked("loop.saves", int(str(saves)) + 1)
