"""How ranks ended, and who wrote at once, told from journals alone: a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from affidavit.fact import folder as names
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Table
from affidavit.run.attempts import attempt_facts
from affidavit.run.gathered import gather

SILENCE = Unknown(Cause.NOTHING_TRAINED, "nobody trained")
TRAINER, PLAIN = "transformers.Trainer", "plain loop"


def write(folder: Path, process: str, *, rank: int = 0, driver: str = TRAINER, **how: Any) -> None:
    """Write the journal of a process; ``ended`` is how its training ended, ``closed`` how its journal did."""
    details = {"attempt": how.get("attempt", 0), "restart": how.get("restart", 0), "began": how.get("began", 100.0)}
    journal = Journal(names.journal(folder, process, details["attempt"]), process=process, details=details)
    journal.write("bound", rank=rank, world=2, backend="")
    journal.write("episode", number=0, driver=driver, ended=how.get("ended", ""))
    if "closed" in how:
        journal.close(how["closed"], raised=how.get("raised", ""))
    else:
        journal.abandon()


def rows(folder: Path, term: str, *, is_over: bool = True) -> tuple[tuple[object, ...], ...]:
    (state,) = [
        fact.state for fact in attempt_facts(gather(folder), silence=SILENCE, is_over=is_over) if fact.name == term
    ]
    assert isinstance(state, Known) and isinstance(state.value, Table)
    return state.value.rows


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"ended": "returned", "closed": "exited"}, ""),
        ({"ended": "returned"}, ""),
        ({"closed": "exited"}, "loop never returned"),
        ({}, "cut off in its loop"),
        ({"driver": PLAIN, "closed": "exited"}, ""),
        ({"driver": PLAIN}, "left without a word"),
        ({"ended": "ValueError: nan", "closed": "exited"}, "raised"),
        ({"ended": "returned", "closed": "exited", "raised": "KeyError"}, "raised"),
        ({"driver": PLAIN, "closed": "rehearsed"}, ""),
        ({"closed": "rehearsed"}, ""),
    ],
)
def test_how_a_rank_ended(tmp_path: Path, how: dict[str, Any], expected: str) -> None:
    write(tmp_path, "host-7-1", **how)
    assert [row[2] for row in rows(tmp_path, "run.endings")] == [expected] * bool(expected)
    assert rows(tmp_path, "run.endings", is_over=False) == ()


def test_whoever_was_started_anew_speaks_for_its_rank(tmp_path: Path) -> None:
    write(tmp_path, "host-7-1", rank=1, closed="exited", raised="ValueError")
    write(tmp_path, "host-8-2", rank=1, restart=1, ended="returned", closed="exited")
    assert rows(tmp_path, "run.endings") == ()
    assert [row[:3] for row in rows(tmp_path, "run.attempts")] == [(0, 0, "first"), (0, 1, "restarted")]


@pytest.mark.parametrize("began", [True, "soon", None, -1, float("1e300"), 10**400])
def test_a_strange_time_is_no_crash(tmp_path: Path, began: object) -> None:
    write(tmp_path, "host-7-1", began=began, closed="exited")
    write(tmp_path, "host-8-1", began=began, closed="exited")
    assert rows(tmp_path, "run.writers") == ()


def test_nothing_trained_is_nothing_known(tmp_path: Path) -> None:
    states = {fact.name: fact.state for fact in attempt_facts(gather(tmp_path), silence=SILENCE, is_over=True)}
    assert states.pop("run.ended") == Known("unseen", Method.INSPECTED, "as its supervisor saw it")
    assert set(states.values()) == {SILENCE}
