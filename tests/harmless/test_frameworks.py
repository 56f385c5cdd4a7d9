"""Loops that other frameworks drive go on as they would have, and their steps are counted as they count them."""

from __future__ import annotations

from pathlib import Path

import pytest
from twice import Ran, Runner, script

from affidavit.attach import heartbeat

LOOPS = ("lightning", "lightning, two optimizers", "accelerate")
STEPS = {"lightning": 6, "lightning, two optimizers": 6, "accelerate": 8}


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("frameworks.py")), runner.observed(script("frameworks.py"))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_does_the_same(runs: tuple[Ran, Ran], loop: str) -> None:
    bare, observed = (run.said[loop] for run in runs)
    assert observed == bare


def test_nothing_is_printed_and_nothing_else_is_written(runs: tuple[Ran, Ran]) -> None:
    bare, observed = runs
    assert observed.stderr.splitlines() == bare.stderr.splitlines()
    assert sorted(observed.files()) == sorted(bare.files())


def test_each_loop_is_an_episode_of_its_own_driver(runs: tuple[Ran, Ran]) -> None:
    drivers = {episode.number: episode.driver for episode in runs[1].journal.episodes}
    assert list(drivers.values()) == ["lightning.Trainer", "lightning.Trainer", "plain loop"]


def test_steps_are_optimizer_steps_and_not_batches(runs: tuple[Ran, Ran]) -> None:
    """The heartbeat holds the last loop's: eight steps of sixteen batches."""
    beats = [heartbeat.read(path) for path in Path(runs[1].spool).glob("heartbeat.*")]
    assert [beat.step for beat in beats if beat is not None] == [STEPS["accelerate"]]
