"""Casts, autocast, frozen norms and validations are the same with us beside them, and are told as they were."""

from __future__ import annotations

import pytest
from twice import Ran, Runner, script


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("precise.py")), runner.observed(script("precise.py"))


@pytest.mark.parametrize("loop", ["cast", "refused", "bfloat16", "float16", "frozen"])
def test_a_loop_does_the_same(runs: tuple[Ran, Ran], loop: str) -> None:
    bare, observed = (run.said[loop] for run in runs)
    assert observed == bare
    assert runs[1].stderr == runs[0].stderr


def test_each_loop_is_told_as_it_was(runs: tuple[Ran, Ran]) -> None:
    observed = runs[1]
    assert [observed.known("precision.weights_requested", loop) for loop in range(4)] == ["bfloat16"] + 3 * ["unstated"]
    kinds = [("bfloat16",), ("bfloat16",), ("float16",), ("float32",)]
    assert [observed.known("precision.matmul_types", loop) for loop in range(4)] == kinds
    assert str(observed.known("modes.layers", 0)) == "1 dropout, active, 1 norm, statistics move"
    layers = "1 dropout of a frozen part, silent, 1 frozen norm, statistics rest"
    assert str(observed.known("modes.layers", 3)) == layers
    changed = [str(observed.known("modes.changed", loop)) for loop in range(4)]
    assert changed == 4 * ["0 frozen norm woken, 0 left in evaluation"]
