"""A verdict on many ranks is one line, and the picture shows the worst of them first."""

from __future__ import annotations

from affidavit.attach.heartbeat import Phase
from affidavit.record.manifest import Status
from affidavit.report.liveness import document, lines, screen
from affidavit.run.liveness.budget import Allowance
from affidavit.run.liveness.evidence import Evidence, Rank, Supervisor
from affidavit.run.liveness.stacks import Stacks
from affidavit.run.liveness.verdict import judge
from affidavit.run.process import State

TEN = Allowance(seconds=10.0, words="a step may take 10 s")


def of(*ages: float) -> Evidence:
    ranks = tuple(
        Rank(
            rank=number,
            world=len(ages),
            pid=100 + number,
            host="here",
            state=State.RUNNING,
            step=7,
            phase=Phase.STEP,
            age_seconds=age,
            allowed=TEN,
        )
        for number, age in enumerate(ages)
    )
    beside = Supervisor(host="here", state=State.SLEEPING, pid=1, child=State.SLEEPING, child_pid=2)
    return Evidence(run="r", attempt=0, supervisors=(beside,), ranks=ranks, loading=TEN, lost=Status.KILLED)


def test_one_line_for_sixty_four_ranks() -> None:
    (only,) = lines(judge(of(*[1.0] * 64)))
    assert only.text.startswith("ALIVE  r: rank 0, process 100, at step 7, came on 1 s ago")
    assert only.text.endswith("and 60 more")


def test_the_picture_shows_the_worst_first_and_says_how_many_it_leaves_out() -> None:
    said = judge(of(*[1.0] * 63, 99.0))
    shown = [one.text for one in screen(said, stamp="12:00:00Z")]
    assert shown[0].startswith("12:00:00Z  STALLED  r: rank 63")
    assert shown[1].startswith("rank 63") and "99 s of 10 s" in shown[1]
    assert shown[-1] == "and 48 more ranks" and len(shown) == 18


def test_the_document_has_them_all_and_where_they_hang() -> None:
    said = document(judge(of(1.0, 99.0)), [Stacks(rank=1, pid=101, why="nothing is on PATH")])
    assert (said["verdict"], said["exit_code"]) == ("STALLED", 1)
    ranks, stacks = said["ranks"], said["stacks"]
    assert isinstance(ranks, list) and [one["verdict"] for one in ranks] == ["ALIVE", "STALLED"]
    assert isinstance(stacks, list) and "kill -USR1 101" in stacks[0]["said"]
