"""The run's own recorders record what they record without us, and where we cannot stand beside one, we step back."""

from __future__ import annotations

import pytest
from twice import Ran, Runner, script

from affidavit.fact.observation import Cause

CASES = (
    "around everything",
    "wait 1, warm-up 1, active 1",
    "warm-up in step 2",
    "active in step 2",
    "begins with step 2",
    "ends with step 2",
    "over and over",
    "warm-up in steps 2 and 3",
    "in step 2, forward",
    "in step 2, forward and backward",
    "autograd's profiler in step 2",
    "across steps",
    "memory",
    "flops of step 2",
    "flops of all",
    "dispatch mode",
    "function mode",
    "an execution trace of its own",
)


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("profiled.py")), runner.observed(script("profiled.py"))


def test_the_cases_are_all_here(runs: tuple[Ran, Ran]) -> None:
    assert tuple(runs[0].said) == CASES
    assert all(case["seen"] for case in runs[0].said.values())  # type: ignore[index]


@pytest.mark.parametrize("case", CASES)
def test_a_recorder_of_the_run_records_the_same(runs: tuple[Ran, Ran], case: str) -> None:
    assert runs[1].said[case] == runs[0].said[case]


@pytest.mark.parametrize("case", CASES)
def test_what_was_executed_is_known_beside_it(runs: tuple[Ran, Ran], case: str) -> None:
    episode = CASES.index(case)
    if case == "an execution trace of its own":
        assert runs[1].unknown("attention.executed", episode) is Cause.PROFILER_BUSY
    else:
        assert str(runs[1].known("attention.executed", episode)) == "1 flash"
    assert runs[1].known("tokens.rows_examined", episode) == 2
    assert str(runs[1].known("adapter.trained", episode)) == "1 head"
