"""Only a process that trains keeps a journal; forked children write nothing, and nobody in the family is disturbed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twice import Ran, Runner, script

from affidavit.fact.observation import Cause, Known, Unknown

RACES = 3
RANKS = {
    "forked workers": [(0, 1)],
    "spawned workers": [(0, 1)],
    "fork": [(0, 1)],
    "fork in forward": [(0, 1)],
    "subprocess": [(0, 1)],
    "spawned ranks": [(0, 2), (1, 2)],
    "spawned, idle": [(0, 1)],
    "untrained": [],
}


@pytest.mark.parametrize("kind", RANKS)
def test_who_trained_has_a_journal(fresh_runner: Runner, kind: str) -> None:
    bare = _sound(lambda: fresh_runner.bare(script("family.py"), kind))
    observed = fresh_runner.observed(script("family.py"), kind)  # once: what it leaks may be ours
    assert (observed.returncode, observed.stdout, observed.stderr) == (0, bare.stdout, bare.stderr)
    assert bare.returncode == 0
    assert (observed.spool / "hello").exists()
    assert not (observed.spool / "hello.refused").exists()
    _ranks_are(observed, RANKS[kind], forked_in_forward=kind == "fork in forward")
    left = {path.name.partition(".")[0] for path in observed.spool.iterdir()}
    assert left <= {"hello", "launch", "journal", "heartbeat", "evidence", "tokens"}


def _sound(run: Callable[[], Ran]) -> Ran:
    """Return a bare run in which Python's own resource tracker did not lose its race at the end, as it rarely does."""
    for _ in range(RACES):
        ran = run()
        if "resource_tracker" not in ran.stderr:
            return ran
    pytest.fail(f"{RACES} bare runs in a row ended with: {ran.stderr}")


def _ranks_are(ran: Ran, expected: list[tuple[int, int]], *, forked_in_forward: bool) -> None:
    assert sorted((journal.rank, journal.world) for journal in ran.journals) == expected
    for journal in ran.journals:
        assert journal.live_step == 2
        assert journal.closed == "exited"
        assert not journal.lost
        executed = [seen.state for seen in journal.observations if seen.term == "attention.executed"]
        if forked_in_forward:
            assert isinstance(executed[-1], Unknown) and executed[-1].cause is Cause.INSTRUMENT_FAILED
        else:
            assert isinstance(executed[-1], Known) and str(executed[-1].value) == "1 flash"
