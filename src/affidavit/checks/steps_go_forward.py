"""Steps go forward, and what goes back has loaded what it goes back to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Tally

NEEDS = ("loop.position", "loop.steps_back", "run.attempts")
ATTEMPTS = ("attempt", "restart", "came", "rank", "began_at", "last_step", "loaded", "saves")
AGAIN = ("requeued", "restarted")
"""Starts of the same training by a scheduler or a launcher; whoever starts again by hand may mean to start over."""


@check(
    "steps-go-forward",
    needs=NEEDS,
    landmine=Landmine.LIVENESS,
    unaffected="the steps of the attempt that is not named here",
)
def steps_go_forward(case: Case) -> Outcome:
    """A requeued job that does not find its checkpoint starts over, and nothing in its log says so.

    A resume may also be half of one: the loop goes on at step N, and optimizer or schedule begin anew. Or the counter
    is put back in the middle of a run, and the weights are not.

    Source: DESIGN D22. Blind to: a former attempt that saved nothing, so that there was nothing to load; optimizers and
    schedulers that do not count steps; the count of a plain loop.
    """
    for outcome in (*_starts_over(case), *_half_resumed(case), *_goes_back(case)):
        return outcome
    (_, attempts), *_ = case.values("run.attempts")
    assert isinstance(attempts, Table)
    return Pass(examined=len(attempts.rows))


def _starts_over(case: Case) -> Iterator[Fail]:
    (_, attempts), *_ = case.values("run.attempts")
    assert isinstance(attempts, Table)
    rows = attempts.records(attempt=int, came=str, began_at=int, last_step=int, loaded=str, saves=int)
    for former, later in pairwise(rows):
        is_behind = int(str(later["began_at"])) < int(str(former["last_step"]))
        if is_behind and later["came"] in AGAIN and former["saves"] and not later["loaded"]:
            yield Fail(
                expected=f"attempt {later['attempt']}, {later['came']}, to go on from one of {former['saves']} "
                f"saves of the one before, which came to step {former['last_step']}",
                saw=f"it begins at step {int(str(later['began_at'])) + 1}, and nothing was loaded "
                f"({case.source('run.attempts')})",
                means="The training started over, and what the attempts before it had learnt is lost.",
                sites=(Site(key=f"attempt {later['attempt']}", step=int(str(later["began_at"])) + 1),),
            )


def _half_resumed(case: Case) -> Iterator[Fail]:
    for ranks, position in case.values("loop.position"):
        assert isinstance(position, Tally)
        counted = dict(position.counts)
        fresh = [part for part in ("optimizer", "scheduler") if counted.get(part) == 0]
        if position["loop"] and fresh:
            yield Fail(
                expected=f"{' and '.join(fresh)} at step {position['loop']}, where the loop goes on",
                saw=f"{' and '.join(fresh)} at step 0 ({case.source('loop.position')}, rank {ranks[0]})",
                means="This is no resume: moments or learning rate begin anew in the middle of the training.",
                sites=tuple(Site(key=part, rank=ranks[0], step=position["loop"]) for part in fresh),
            )


def _goes_back(case: Case) -> Iterator[Fail]:
    for ranks, back in case.values("loop.steps_back"):
        assert isinstance(back, Table)
        rows = back.records(**{"from": int, "to": int, "optimizer": int})
        sites = [row for row in rows if int(str(row["optimizer"])) + 1 >= int(str(row["from"]))]
        if sites:
            first = sites[0]
            yield Fail(
                expected=f"step {int(str(first['from'])) + 1} after step {first['from']}, or a checkpoint of before",
                saw=f"step {first['to']}, with an optimizer that has counted {first['optimizer']} steps "
                f"({case.source('loop.steps_back')}, rank {ranks[0]})",
                means="Steps are counted twice: schedule, saves and the end of the training follow a wrong counter.",
                sites=tuple(Site(key="loop.steps_back", rank=ranks[0], step=int(str(row["to"]))) for row in sites),
            )


@steps_go_forward.healthy
def _() -> Case:
    attempts = ((0, 0, "first", 0, 0, 40, "", 2), (1, 0, "requeued", 0, 20, 60, "loop, optimizer, scheduler", 1))
    position = Tally.count("steps", {"loop": 20, "optimizer": 20, "scheduler": 20})
    back = Table(("from", "to", "optimizer"), ((50, 31, 30),))
    return case_of(
        run={"run.attempts": Table(ATTEMPTS, attempts), "loop.position": position, "loop.steps_back": back}, ranks=2
    )


@steps_go_forward.sabotage("a requeued job does not find its checkpoint")
def _(case: Case) -> Case:
    rows = ((2, 0, "first", 1, 0, 41, "", 3), (2, 1, "restarted", 1, 0, 61, "", 2))
    return case.altered("run.attempts", Table(ATTEMPTS, rows))


@steps_go_forward.sabotage("the loop goes on, and the optimizer of the last rank begins anew")
def _(case: Case) -> Case:
    fresh = Tally.count("steps", {"loop": 30, "optimizer": 0, "scheduler": 30})
    return case.altered("loop.position", fresh, rank=-1)


@steps_go_forward.sabotage("the counter goes back, and the optimizer does not")
def _(case: Case) -> Case:
    return case.altered("loop.steps_back", Table(("from", "to", "optimizer"), ((49, 12, 49),)))
