"""What a loop is about is told before it begins, and nothing of the loop is another for it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from twice import Ran, Runner, script

CASES = ("steps", "epoch", "lightning")


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("phases.py")), runner.observed(script("phases.py"))


@pytest.mark.parametrize("case", CASES)
def test_a_loop_that_evaluates_and_saves_does_the_same(runs: tuple[Ran, Ran], case: str) -> None:
    """Weights, random states, the order of the user's callbacks and the flags that each of them finds."""
    bare, observed = (cast(dict[str, Any], run.said[case]) for run in runs)
    assert observed["same"] == bare["same"]
    assert not bare["phases"] and "affidavit" not in runs[1].stderr.lower()


@pytest.mark.parametrize("case", ["steps", "epoch"])
def test_a_trainer_says_what_it_is_about(runs: tuple[Ran, Ran], case: str) -> None:
    phases = cast(dict[str, Any], runs[1].said[case])["phases"]
    assert phases.pop("training, step 1") == ["COMPILE"] == phases.pop("training, step 2")
    assert phases.pop("training, step 3") == ["STEP"]
    # Outside of a training nobody says that an evaluation begins; its first batch is then as long as anything else.
    assert phases == {
        "evaluating": ["EVALUATION", "LOAD"],
        "evaluated": ["CHECKPOINT", "LOAD"],
        "saving, the model is written": ["CHECKPOINT"],
        "saved": ["STEP"],
        "loading the best": ["CHECKPOINT"],
        "after the training": ["LOAD"],
        "after an evaluation of its own": ["LOAD"],
        "after a save of its own": ["LOAD"],
    }


def test_a_fit_says_what_it_is_about(runs: tuple[Ran, Ran]) -> None:
    phases = cast(dict[str, Any], runs[1].said["lightning"])["phases"]
    assert phases.pop("training, step 1") == ["COMPILE"] == phases.pop("training, step 2")
    assert phases.pop("training, step 3") == ["STEP"]
    assert phases == {
        "evaluating": ["EVALUATION"],
        "evaluated": ["LOAD", "STEP"],
        "saving": ["CHECKPOINT"],
        "after the training": ["LOAD"],
        "after an evaluation of its own": ["LOAD"],
    }
