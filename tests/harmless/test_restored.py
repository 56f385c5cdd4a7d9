"""What looks at weights and at states that are put in leaves both as they were, and keeps no model alive."""

from __future__ import annotations

import pytest
from twice import Ran, Runner, script


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("restored.py")), runner.observed(script("restored.py"))


def test_weights_states_and_what_is_said_of_them_are_the_same(runs: tuple[Ran, Ran]) -> None:
    bare, observed = runs
    assert observed.said == bare.said
    assert observed.stderr == bare.stderr


def test_what_moved_and_what_was_put_in_is_known(runs: tuple[Ran, Ran]) -> None:
    observed = runs[1]
    assert str(observed.known("weights.moved")) == "4 frozen but rewritten, 4 moved"
    rows = observed.known("weights.restored").rows  # type: ignore[attr-defined]
    assert [(kind, tensors, taken) for kind, _, tensors, taken, _ in rows] == [("state", 5, 5)]
    assert observed.journal.notes == []
