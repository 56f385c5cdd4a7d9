"""A heartbeat says how far the loop is and what it is about; who beats the same step again has not come on."""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from affidavit.attach import heartbeat
from affidavit.attach.heartbeat import Beat, Heartbeat, Phase
from affidavit.attach.launch import Launch
from affidavit.attach.moment import Saved, TrainBegin, TrainEnd
from affidavit.attach.session import Session, Standing
from affidavit.fact import folder, journal
from affidavit.fact.term import Vocabulary

PAUSE = 0.02


def said(path: Path) -> Beat:
    beat = heartbeat.read(path)
    assert beat is not None
    return beat


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "heartbeat.0.h-1-1"


def test_a_step_is_progress_and_the_same_step_again_is_none(path: Path) -> None:
    beats = Heartbeat(path)
    beats.beat(1)
    first = said(path)
    time.sleep(PAUSE)
    beats.beat(1)
    again = said(path)
    assert again.beats == first.beats + 1 and again.monotonic_ns > first.monotonic_ns
    assert (again.step, again.moved_ns) == (1, first.moved_ns)
    assert again.moved_wall_ns < again.wall_ns - 0.5 * PAUSE * 1e9
    beats.beat(2)
    assert said(path).moved_ns > first.moved_ns


def test_the_first_steps_of_a_training_are_not_what_a_step_takes(path: Path) -> None:
    beats = Heartbeat(path)
    time.sleep(5 * PAUSE)
    beats.beat(1)
    assert said(path).phase is Phase.COMPILE
    for step in (2, 3, 4):
        beats.beat(step)
    beat = said(path)
    assert beat.phase is Phase.STEP and beat.steps == 2
    assert beat.longest[Phase.COMPILE] >= 5 * PAUSE > beat.longest[Phase.STEP]
    beats.enter(Phase.COMPILE)
    assert said(path).phase is Phase.COMPILE, "the next training has first steps, too"


def test_an_announced_phase_has_its_own_time(path: Path) -> None:
    beats = Heartbeat(path)
    for step in (1, 2, 3):
        beats.beat(step)
    beats.enter(Phase.EVALUATION)
    assert said(path).phase is Phase.EVALUATION
    time.sleep(5 * PAUSE)
    beats.over(Phase.EVALUATION)
    beats.beat(4)
    beat = said(path)
    assert beat.phase is Phase.STEP and beat.announced == {Phase.EVALUATION}
    assert beat.longest[Phase.EVALUATION] >= 5 * PAUSE > beat.longest[Phase.STEP]


def test_what_nobody_announced_is_known_when_it_is_over(path: Path) -> None:
    beats = Heartbeat(path)
    for step in (1, 2, 3):
        beats.beat(step)
    time.sleep(5 * PAUSE)
    beats.over(Phase.CHECKPOINT)
    beats.beat(4)
    beat = said(path)
    assert beat.longest[Phase.CHECKPOINT] >= 5 * PAUSE > beat.longest[Phase.STEP]
    assert Phase.CHECKPOINT not in beat.announced


def test_a_save_in_another_thread_is_no_progress_of_the_loop(path: Path) -> None:
    beats = Heartbeat(path)
    beats.beat(1)
    before = said(path)
    thread = threading.Thread(target=beats.over, args=(Phase.CHECKPOINT,))
    thread.start()
    thread.join()
    assert said(path) == before


def test_a_file_of_the_version_before_is_read_and_says_less(path: Path) -> None:
    path.write_bytes(struct.pack("<8sqqqq24x", b"AFFBEAT1", 7, 70, 700, 8))
    assert heartbeat.read(path) == Beat(7, 70, 700, 8, moved_ns=70)


def test_the_version_before_reads_this_one(path: Path) -> None:
    Heartbeat(path).beat(3)
    magic, step, _, _, beats = struct.unpack("<8sqqqq24x", path.read_bytes()[:64])
    assert (magic, step, beats) == (b"AFFBEAT1", 3, 2)


@pytest.mark.parametrize("raw", [b"", b"AFFBEAT1", bytes(128), b"AFFBEAT2" + bytes(120)])
def test_what_is_no_heartbeat_says_nothing(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    assert heartbeat.read(path) is None


def test_a_half_written_beat_is_not_believed(path: Path) -> None:
    beats = Heartbeat(path)
    beats.beat(1)
    raw = path.read_bytes()
    beats.beat(2)
    path.write_bytes(path.read_bytes()[:64] + raw[64:])
    assert heartbeat.read(path) is None


def test_a_pipe_of_that_name_keeps_nobody(path: Path) -> None:
    os.mkfifo(path)
    assert heartbeat.read(path) is None


def test_reading_meets_writing_a_thousand_times_and_never_a_mixture(path: Path) -> None:
    beats = Heartbeat(path)
    over = threading.Event()

    def write() -> None:
        step = 0
        while not over.is_set():
            step += 1
            beats.beat(step)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(1000):
            beat = said(path)
            assert beat.beats == beat.step + 1
    finally:
        over.set()
        thread.join()


# --- what a session says of itself ------------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    launch = Launch(run="phases", folder=str(tmp_path), spool=str(tmp_path))
    found = Session(launch, Vocabulary(()), (), {}, lambda: Standing(0, 1))
    yield found
    found.detach()


def phase(session: Session) -> Phase | None:
    (path,) = Path(session.launch.spool).glob("heartbeat.*")
    return said(path).phase


def test_a_session_says_what_its_loop_is_about(session: Session) -> None:
    session.fire(TrainBegin(driver="test", model=None))
    assert phase(session) is Phase.COMPILE
    for step in (1, 2, 3):
        session.step_begin(step) if session.counts else None
        session.step_end(step) if session.counts else session.beat(step)
    assert phase(session) is Phase.STEP
    session.enters(Phase.EVALUATION)
    assert phase(session) is Phase.EVALUATION
    session.look_soon()
    assert phase(session) is Phase.STEP
    session.fire(Saved(step=3))
    (path,) = Path(session.launch.spool).glob("heartbeat.*")
    assert {Phase.EVALUATION, Phase.CHECKPOINT} < set(said(path).longest)
    session.fire(TrainEnd(step=3))
    assert phase(session) is Phase.LOAD


def test_a_journal_says_where_its_process_number_means_it(session: Session) -> None:
    session.fire(TrainBegin(driver="test", model=None))
    (path,) = folder.journals(Path(session.launch.spool))
    opened = journal.read(path).opened
    assert opened["boot"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert opened["namespace"] == Path("/proc/self/ns/pid").stat().st_ino


@pytest.mark.parametrize("raised", ["", "ValueError"])
def test_a_journal_says_what_error_nobody_caught(
    session: Session, monkeypatch: pytest.MonkeyPatch, raised: str
) -> None:
    monkeypatch.setattr(sys, "last_value", ValueError("the loss is nan") if raised else None, raising=False)
    session.fire(TrainBegin(driver="test", model=None))
    session.close("exited")
    (path,) = folder.journals(Path(session.launch.spool))
    assert (journal.read(path).closed, journal.read(path).raised) == ("exited", raised)
