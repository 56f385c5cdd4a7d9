"""What a heartbeat says of phases that come in parts, inside of each other, unannounced, or outside of a training."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.attach import heartbeat
from affidavit.attach.heartbeat import Beat, Heartbeat, Phase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "heartbeat"


def said(path: Path) -> Beat:
    found = heartbeat.read(path)
    assert found is not None
    return found


def trained(path: Path, steps: int = 3) -> Heartbeat:
    beats = Heartbeat(path)
    beats.enter(Phase.COMPILE)
    for step in range(1, steps + 1):
        beats.beat(step)
    return beats


def test_a_part_that_is_done_is_progress_and_not_the_end(path: Path) -> None:
    beats = trained(path)
    beats.enter(Phase.EVALUATION)
    before = said(path).moved_ns
    beats.enter(Phase.EVALUATION)
    assert said(path).phase is Phase.EVALUATION and said(path).moved_ns > before
    assert Phase.EVALUATION in said(path).longest
    beats.enter(Phase.CHECKPOINT)
    beats.over(Phase.CHECKPOINT, is_part=True)
    assert said(path).phase is Phase.CHECKPOINT
    beats.over(Phase.CHECKPOINT)
    assert said(path).phase is Phase.STEP


def test_a_part_that_nobody_announced_is_over_at_once(path: Path) -> None:
    beats = trained(path)
    beats.over(Phase.CHECKPOINT, is_part=True)
    assert said(path).phase is Phase.STEP and Phase.CHECKPOINT in said(path).longest


def test_a_phase_that_once_came_unannounced_may_come_so_again(path: Path) -> None:
    beats = trained(path)
    beats.enter(Phase.CHECKPOINT)
    beats.over(Phase.CHECKPOINT)
    assert Phase.CHECKPOINT in said(path).announced
    beats.over(Phase.CHECKPOINT)
    beats.enter(Phase.CHECKPOINT)
    assert Phase.CHECKPOINT not in said(path).announced


@pytest.mark.parametrize("phase", [Phase.EVALUATION, Phase.CHECKPOINT])
def test_outside_of_a_training_no_step_is_waited_for(path: Path, phase: Phase) -> None:
    beats = trained(path)
    beats.enter(Phase.LOAD)
    beats.enter(phase)
    assert said(path).phase is phase
    beats.over(phase)
    assert said(path).phase is Phase.LOAD
    beats.enter(Phase.COMPILE)
    beats.enter(phase)
    beats.over(phase)
    assert said(path).phase is Phase.COMPILE, "the first steps are still to come"
