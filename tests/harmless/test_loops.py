"""Loops unlike others pay no more than others, and what is told of them is what trained."""

from __future__ import annotations

from typing import Any, cast

import pytest
from twice import Ran, Runner, script

from affidavit.attach import heartbeat
from affidavit.attach.session import EPISODES_WATCHED

LOOPS = ("raw tensors", "two optimizers", "evaluated", "interrupted", "an optimizer a step")


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("loops.py")), runner.observed(script("loops.py"))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_does_the_same(runs: tuple[Ran, Ran], loop: str) -> None:
    bare, observed = (cast(dict[str, Any], run.said[loop]) for run in runs)
    took, usual = observed.pop("told", 0.0), bare.pop("told", 0.0)
    assert observed == bare
    assert took < usual + 5  # seconds of CPU: what else the machine does is no loop's fault


def test_parameters_of_nobody_are_looked_for_once(runs: tuple[Ran, Ran]) -> None:
    """A look at all objects takes a tenth of a second; two hundred of them were twenty."""
    bare, observed = (cast(dict[str, Any], run.said["raw tensors"]) for run in runs)
    assert observed["told"] < bare["told"] + 2


def test_an_evaluation_before_the_step_is_not_the_step(runs: tuple[Ran, Ran]) -> None:
    assert str(runs[1].known("attention.executed", 1)) == "1 flash"


def test_a_step_that_was_tried_again_is_told_once(runs: tuple[Ran, Ran]) -> None:
    assert str(runs[1].known("attention.executed", 2)) == "1 flash"


def test_who_makes_optimizers_like_batches_is_not_watched_for_ever(runs: tuple[Ran, Ran]) -> None:
    journal = runs[1].journal
    assert EPISODES_WATCHED <= len(journal.episodes) <= EPISODES_WATCHED + 1
    assert journal.closed == "exited"
    assert runs[1].stderr == ""


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_rehearsal_of_a_plain_loop_ends_where_it_was_told(fresh_runner: Runner, steps: int) -> None:
    """Not before the sampled step, and not at the end of the run: nobody else counts the steps of a plain loop."""
    ran = fresh_runner.observed(script("small.py"), launch={"mode": "rehearsal", "rehearsal_steps": steps})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert ran.journal.closed == "rehearsed"
    (beat,) = [heartbeat.read(path) for path in ran.spool.glob("heartbeat.*")]
    assert beat is not None and beat.step == max(steps, 2)
