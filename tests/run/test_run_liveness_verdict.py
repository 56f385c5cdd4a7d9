"""Every word for a run by what was seen of it: the whole table, without a process."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from affidavit.attach.heartbeat import Beat, Phase
from affidavit.record.manifest import Status
from affidavit.run.liveness.budget import FLOORS, Allowance, BudgetError, Budgets, within
from affidavit.run.liveness.evidence import Ending, Evidence, Rank, Supervisor
from affidavit.run.liveness.verdict import RANKS_WITHIN_STEPS, WORD_SECONDS, Liveness, judge
from affidavit.run.process import State

TEN = Allowance(seconds=10.0, words="a step may take 10 s")
HERE = Supervisor(host="here", state=State.SLEEPING, pid=1, child=State.SLEEPING, child_pid=2)
THERE = Supervisor(host="there", state=State.ELSEWHERE, silent_seconds=12.0)
RANK = Rank(
    rank=0, world=1, pid=2, host="here", state=State.RUNNING, step=7, phase=Phase.STEP, age_seconds=1.0, allowed=TEN
)
WELL, BADLY = Ending(status=Status.FINISHED, code=0), Ending(status=Status.KILLED, code=137, signal=9)
SEEN = Evidence(run="r", attempt=0, supervisors=(HERE,), ranks=(RANK,), loading=TEN, lost=Status.KILLED)


def seen(*, supervisor: dict[str, Any] | None = None, rank: dict[str, Any] | None = None, **run: Any) -> Evidence:
    found = replace(SEEN, **run)
    if supervisor is not None:
        found = replace(found, supervisors=(replace(HERE, **supervisor),))
    if rank is not None:
        found = replace(found, ranks=(replace(RANK, **rank),))
    return found


GONE = {"state": State.GONE, "child": State.GONE}
TABLE: dict[str, tuple[Evidence, Liveness]] = {
    "it takes steps": (SEEN, Liveness.ALIVE),
    "it waits for a disk and takes steps": (seen(rank={"state": State.UNINTERRUPTIBLE}), Liveness.ALIVE),
    "its supervisor is gone and it takes steps": (seen(supervisor={"state": State.GONE}), Liveness.ALIVE),
    "its supervisor is stopped and it takes steps": (seen(supervisor={"state": State.STOPPED}), Liveness.ALIVE),
    "no step for too long": (seen(rank={"age_seconds": 11.0}), Liveness.STALLED),
    "no step for too long, busily": (seen(rank={"age_seconds": 11.0, "state": State.RUNNING}), Liveness.STALLED),
    "no step for too long, in the kernel": (
        seen(rank={"age_seconds": 11.0, "state": State.UNINTERRUPTIBLE}),
        Liveness.UNINTERRUPTIBLE,
    ),
    "stopped": (seen(rank={"state": State.STOPPED}), Liveness.STOPPED),
    "stopped, and a beat that is fresh": (seen(rank={"state": State.STOPPED, "age_seconds": 0.0}), Liveness.STOPPED),
    "held by a debugger": (seen(rank={"state": State.TRACED}), Liveness.STOPPED),
    "its launcher is stopped": (seen(supervisor={"child": State.STOPPED}), Liveness.STOPPED),
    "it was killed just now and still has a state": (seen(rank={"state": State.ENDING}), Liveness.DEAD),
    "a zombie": (seen(rank={"state": State.ZOMBIE}), Liveness.ZOMBIE),
    "a zombie that has closed its journal": (
        seen(supervisor={"child": State.ZOMBIE}, rank={"state": State.ZOMBIE, "closed": "exited"}),
        Liveness.ZOMBIE,
    ),
    "a rank is gone and its launcher is not": (seen(rank={"state": State.GONE}), Liveness.DEAD),
    "a rank is gone and another has taken its place": (
        replace(SEEN, ranks=(replace(RANK, state=State.GONE, is_newest=False), RANK)),
        Liveness.ALIVE,
    ),
    "all are gone without a word": (seen(supervisor=GONE, rank={"state": State.GONE}), Liveness.DEAD),
    "all are gone, and the supervisor is a zombie": (
        seen(supervisor={**GONE, "state": State.ZOMBIE}, rank={"state": State.GONE}),
        Liveness.DEAD,
    ),
    "all left in an orderly way and nobody saw how": (
        seen(supervisor=GONE, rank={"state": State.GONE, "closed": "exited"}, lost=Status.FINISHED),
        Liveness.UNKNOWN,
    ),
    "the command is gone and its supervisor says nothing yet": (
        seen(supervisor={"child": State.GONE}, rank={"state": State.GONE, "closed": "exited"}),
        Liveness.UNKNOWN,
    ),
    "no heartbeat": (seen(rank={"age_seconds": None, "why": "none"}), Liveness.UNKNOWN),
    "it trains too often to be watched": (seen(rank={"is_unwatched": True}), Liveness.UNKNOWN),
    "a notebook waits": (
        seen(rank={"is_own_supervisor": True, "phase": Phase.LOAD, "age_seconds": 1e6}),
        Liveness.ALIVE,
    ),
    "a rank is behind": (seen(rank={"world": 2, "behind": RANKS_WITHIN_STEPS + 1}), Liveness.STALLED),
    "a rank is a little behind": (seen(rank={"world": 2, "behind": RANKS_WITHIN_STEPS}), Liveness.ALIVE),
    "one rank of two is stalled": (
        replace(SEEN, ranks=(RANK, replace(RANK, rank=1, age_seconds=99.0))),
        Liveness.STALLED,
    ),
    "one rank of two cannot be told": (replace(SEEN, ranks=(RANK, replace(RANK, age_seconds=None))), Liveness.UNKNOWN),
    "it ended well": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"state": State.GONE, "closed": "exited", "is_command": True}),
        Liveness.FINISHED,
    ),
    "it ended by os._exit(0) and is the command": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"state": State.GONE, "is_command": True}),
        Liveness.FINISHED,
    ),
    "its launcher says 0 of a rank that was cut off": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"state": State.GONE}),
        Liveness.UNKNOWN,
    ),
    "a notebook in which cells failed was closed": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"is_own_supervisor": True, "error": "ValueError"}),
        Liveness.FINISHED,
    ),
    "its launcher says 0 of a rank that raised": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"state": State.GONE, "closed": "exited", "error": "ValueError"}),
        Liveness.DEAD,
    ),
    "exit code 0 and a loop that never returned": (
        seen(supervisor={**GONE, "ended": WELL}, rank={"state": State.GONE, "closed": "exited", "is_open": True}),
        Liveness.UNKNOWN,
    ),
    "it was killed": (seen(supervisor={**GONE, "ended": BADLY}, rank={"state": State.GONE}), Liveness.DEAD),
    "one node ended well and the other goes on": (
        replace(SEEN, supervisors=(replace(HERE, ended=WELL), HERE)),
        Liveness.ALIVE,
    ),
    "one node was killed and the other goes on": (
        replace(SEEN, supervisors=(replace(HERE, ended=BADLY), HERE)),
        Liveness.DEAD,
    ),
    "elsewhere, and its supervisor speaks": (
        replace(SEEN, supervisors=(THERE,), ranks=(replace(RANK, state=State.ELSEWHERE),)),
        Liveness.ALIVE,
    ),
    "elsewhere, and its supervisor speaks of no step": (
        replace(SEEN, supervisors=(THERE,), ranks=(replace(RANK, state=State.ELSEWHERE, age_seconds=99.0),)),
        Liveness.STALLED,
    ),
    "elsewhere, and its supervisor is silent": (
        replace(
            SEEN,
            supervisors=(replace(THERE, silent_seconds=WORD_SECONDS + 1),),
            ranks=(replace(RANK, state=State.ELSEWHERE),),
        ),
        Liveness.UNKNOWN,
    ),
    "elsewhere, and no word was left": (
        replace(SEEN, supervisors=(replace(THERE, silent_seconds=None),), ranks=()),
        Liveness.UNKNOWN,
    ),
    "elsewhere, by a clock of the future": (
        replace(
            SEEN, supervisors=(replace(THERE, silent_seconds=-900.0),), ranks=(replace(RANK, state=State.ELSEWHERE),)
        ),
        Liveness.UNKNOWN,
    ),
    "it loads": (replace(SEEN, ranks=(), unstarted_seconds=3.0), Liveness.ALIVE),
    "it loads for too long": (
        replace(SEEN, ranks=(), unstarted_seconds=11.0, is_attached=True),
        Liveness.STALLED,
    ),
    "it never trains, and was never reached": (replace(SEEN, ranks=(), unstarted_seconds=11.0), Liveness.UNKNOWN),
    "nobody says when it began": (replace(SEEN, ranks=()), Liveness.UNKNOWN),
    "its trainer has left and the command goes on": (
        seen(rank={"state": State.GONE, "closed": "exited", "age_seconds": 3.0}),
        Liveness.ALIVE,
    ),
    "its trainer left long ago and the command goes on": (
        seen(rank={"state": State.GONE, "closed": "exited", "age_seconds": 99.0}),
        Liveness.UNKNOWN,
    ),
    "nothing": (replace(SEEN, supervisors=(), ranks=(), lost=None), Liveness.UNKNOWN),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_table(case: str) -> None:
    evidence, expected = TABLE[case]
    said = judge(evidence)
    assert said.liveness is expected, said.why
    assert said.why and all(said.why)


@pytest.mark.parametrize("liveness", Liveness)
def test_only_alive_and_finished_end_with_0(liveness: Liveness) -> None:
    expected = {Liveness.ALIVE: 0, Liveness.FINISHED: 0, Liveness.UNKNOWN: 4}.get(liveness, 1)
    assert liveness.exit_code == expected
    assert any(said is liveness for _, said in TABLE.values()), "it is in the table"


def test_nothing_that_is_gone_late_or_unseen_is_ever_alive() -> None:
    """All combinations of a rank's state, its beat, and its supervisor: ALIVE needs a process or a word, and a step."""
    ages = (None, 0.0, 9.0, 11.0)
    supervisors = [replace(HERE, state=one, child=other) for one, other in product(State, State)]
    supervisors += [replace(THERE, silent_seconds=silent) for silent in (None, 0.0, 1e3, -1e3)]
    for state, age, supervisor in product(State, ages, supervisors):
        said = judge(
            replace(SEEN, supervisors=(supervisor,), ranks=(replace(RANK, state=state, age_seconds=age),))
        ).liveness
        if said is Liveness.ALIVE:
            assert age is not None and age <= TEN.seconds
            assert state in (State.RUNNING, State.SLEEPING, State.UNINTERRUPTIBLE, State.ELSEWHERE)
            assert supervisor.silent_seconds is None or 0 <= supervisor.silent_seconds <= WORD_SECONDS
        assert said is not Liveness.FINISHED, "nobody said so"


# --- how long it may be silent ----------------------------------------------------------------------------------------


def beat(phase: Phase | None, announced: tuple[Phase, ...] = (), **longest: float) -> Beat:
    taken = {Phase[name.upper()]: seconds for name, seconds in longest.items()}
    return Beat(9, 0, 0, 9, phase=phase, longest=taken, announced=frozenset(announced), steps=8)


@pytest.mark.parametrize(
    ("last", "seconds", "words"),
    [
        (beat(Phase.STEP, step=0.5), 300.0, "a step may take 300 s; the longest so far took 0.5 s"),
        (beat(Phase.STEP, step=200.0), 600.0, "a step may take 600 s: 3 times the longest of 8, 200 s"),
        (beat(Phase.COMPILE, step=1e4), 1800.0, "the first steps of a training may take 1,800 s"),
        (
            beat(Phase.EVALUATION, evaluation=1e3),
            3000.0,
            "an evaluation may take 3,000 s: 3 times the longest, 1,000 s",
        ),
        (beat(Phase.CHECKPOINT), 900.0, "a checkpoint may take 900 s"),
        (beat(Phase.STEP, step=1.0, evaluation=1e3), 3000.0, "an evaluation may take"),
        (beat(Phase.STEP, (Phase.EVALUATION,), step=1.0, evaluation=1e3), 300.0, "a step may take 300 s"),
        (beat(None), 1800.0, "it does not say what it is about"),
    ],
)
def test_how_long_is_learnt_from_the_run_and_said(last: Beat, seconds: float, words: str) -> None:
    allowed = Budgets().allow(last)
    assert allowed.seconds == seconds and words in allowed.words


def test_within_is_for_every_phase_whatever_was_seen() -> None:
    assert {within(5).allow(beat(phase, step=100.0)).seconds for phase in Phase} == {5}


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, -math.inf, math.nan])
def test_a_limit_that_never_rings_or_always_is_refused(seconds: float) -> None:
    with pytest.raises(BudgetError, match="expected a number of seconds above zero"):
        within(seconds)


@pytest.mark.parametrize("phase", Phase)
def test_a_limit_that_is_missing_is_refused(phase: Phase) -> None:
    with pytest.raises(BudgetError, match=f"{phase.name.lower()} missing"):
        Budgets(floors={one: seconds for one, seconds in FLOORS.items() if one is not phase})


def test_a_multiple_that_never_rings_is_refused() -> None:
    with pytest.raises(BudgetError, match="multiple inf"):
        Budgets(multiple=math.inf)
