"""A compiler does with an observed model what it does with a bare one, before, in and after the sampled step.

Two things were seen to differ while this was built, and each is a case here: an audit hook is a Python function, and
whatever is imported from inside of a compiled function had it compiled; a hook on a model that a compiled function
calls makes that function recompile when it is taken away.
"""

from __future__ import annotations

from typing import Any, cast

import pytest
from twice import Ran, Runner, script

from affidavit.fact.observation import Cause

UNTRACEABLE = {
    "function around",
    "function around fullgraph",
    "whole step",
    "recompiles in step 2, function around",
    "uncompiled, after others",
}
"""Nothing of ours may stand on a model that is, or may be, called from inside of a compiled function."""
UNHEARD = "compiled optimizer"
"""Hooks of an optimizer do not exist for a step that is compiled, so this loop is no episode."""
CASES = (
    "uncompiled",
    "wrapped",
    "wrapped fullgraph",
    "in place",
    "in place fullgraph",
    "function around",
    "function around fullgraph",
    "whole step",
    "a part",
    "with a break",
    "compiled optimizer",
    "recompiles in step 2",
    "recompiles in step 2, in place fullgraph",
    "recompiles in step 2, function around",
    "recompiles in step 3",
    "dynamic",
    "uncompiled, after others",
)
EPISODES = tuple(case for case in CASES if case != UNHEARD)


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("compiled.py")), runner.observed(script("compiled.py"))


def test_the_cases_are_all_here(runs: tuple[Ran, Ran]) -> None:
    assert tuple(runs[0].said) == CASES


@pytest.mark.parametrize("case", CASES)
def test_the_compiler_does_the_same(runs: tuple[Ran, Ran], case: str) -> None:
    bare, observed = (cast(dict[str, Any], run.said[case]) for run in runs)
    assert bool(bare["compiler"][-1][1]) == ("uncompiled" not in case)
    if case == UNHEARD:
        # A hook of any optimizer is part of the frame that the compiler reads: fewer frames, the same graphs.
        bare["frames"] = observed["frames"]
    assert observed == bare


@pytest.mark.parametrize("case", EPISODES)
def test_what_was_executed_is_known_or_says_that_it_is_compiled(runs: tuple[Ran, Ran], case: str) -> None:
    observed = runs[1]
    assert len(observed.journal.episodes) == len(EPISODES)
    episode = EPISODES.index(case)
    if case in UNTRACEABLE:
        assert observed.unknown("attention.executed", episode) is Cause.COMPILED
    else:
        # Once a step, whatever a compiler tried on fake tensors on its way.
        assert str(observed.known("attention.executed", episode)) == "1 flash"
