"""The heartbeat: a step counter that the training loop itself advances, in one fixed-size node-local file.

A beat is one ``pwrite`` of 128 bytes into a preallocated file. Not a memory map: a truncated map kills the process
with SIGBUS, and a page that was never allocated does so when the disk is full. Not a thread: a deadlocked loop with a
beating thread looks alive. So the file holds, beside the time of the last beat, the time at which the loop last came
on: who beats the same step again has not.

The first 64 bytes are those of every version. What follows is what this loop has needed so far, so that whoever looks
at it once knows how long it may be silent.

Source: critic-practitioner §0 (SIGBUS, measured); anchors-mechanisms C5.
Blind to: progress inside a step; an evaluation that nobody announced, until it is over.
"""

from __future__ import annotations

import enum
import os
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.fact.descriptor import hold

_HEAD = struct.Struct("<8sqqqqBBB5xqq")
_TAIL = struct.Struct("<5qq16x")
_BOTH = struct.Struct("<8sqqqqBBB5xqq5qq16x")
_MAGIC = b"AFFBEAT1"
_VERSION = 1
"""0 is a file of 64 bytes that says nothing after ``beats``."""
SIZE = _BOTH.size
WARM_STEPS = 2
"""So many steps of a training may be slow because something is compiled or warmed up in them."""


class Phase(enum.IntEnum):
    """What the loop is about; each has a patience of its own. LOAD is all that is outside of a training."""

    LOAD = 1
    COMPILE = 2
    STEP = 3
    EVALUATION = 4
    CHECKPOINT = 5


@dataclass(frozen=True)
class Beat:
    """The last beat: the step it was made at, when (monotonic and wall, ns), and how many beats there were.

    Args:
        moved_ns: when the loop last came on, monotonic: a new step, or a phase that began or was over.
        phase: what it is about since, as far as it says; None in a file of an earlier version.
        longest: the longest that each phase has taken so far, seconds; only those that were seen.
        announced: the phases that this loop always says before they begin; of another one is told when it is over.
        steps: how many steps the longest one is the longest of.
    """

    step: int
    monotonic_ns: int
    wall_ns: int
    beats: int
    moved_ns: int = 0
    phase: Phase | None = None
    longest: Mapping[Phase, float] = field(default_factory=dict)
    announced: frozenset[Phase] = frozenset()
    steps: int = 0

    @property
    def moved_wall_ns(self) -> int:
        """When the loop last came on, by the wall clock of its own host."""
        return self.wall_ns - (self.monotonic_ns - self.moved_ns)


class Heartbeat:
    """Writes beats; falls silent on the first ``OSError``. Without a path it never says a thing."""

    def __init__(self, path: Path | None = None) -> None:
        self._beats = 0
        self._descriptor = -1
        self._step = 0
        self._steps = 0
        self._phase = Phase.COMPILE
        self._warm = WARM_STEPS
        self._home: Phase | None = None
        self._announced = self._surprises = 0
        self._longest = [0] * len(Phase)
        self._moved = time.monotonic_ns()
        self._thread = threading.get_ident()
        if path is None:
            return
        try:
            self._descriptor = hold(path, os.O_WRONLY | os.O_CREAT)
            os.posix_fallocate(self._descriptor, 0, SIZE)
            self.beat(0)
        except OSError:
            self.stop()

    def beat(self, step: int) -> None:
        """Say that step ``step`` was taken; the same step again is no progress."""
        if self._descriptor < 0:
            return
        now = time.monotonic_ns()
        if step != self._step:
            took, place = now - self._moved, self._phase - 1
            if took > self._longest[place]:
                self._longest[place] = took
            self._step, self._moved = step, now
            if self._phase is Phase.STEP:
                self._steps += 1
            else:
                self._thread = threading.get_ident()
                self._warm -= self._phase is Phase.COMPILE
                self._phase = Phase.COMPILE if self._warm > 0 else Phase.STEP
        self._write(now)

    def enter(self, phase: Phase) -> None:
        """Say that the loop is about something else from now on; COMPILE is the beginning of a training, LOAD its end.

        Who is in this phase already says that a part of it is done.
        """
        if self._descriptor < 0:
            return
        now = time.monotonic_ns()
        if phase is Phase.COMPILE:
            self._warm = WARM_STEPS
        if phase in (Phase.COMPILE, Phase.LOAD):
            self._home = Phase.LOAD if phase is Phase.LOAD else None
        elif phase is self._phase:
            self._longest[phase - 1] = max(self._longest[phase - 1], now - self._moved)
        self._announced |= 1 << phase
        self._phase, self._moved = phase, now
        self._write(now)

    def over(self, phase: Phase, *, is_part: bool = False) -> None:
        """Say that ``phase`` is over just now, announced or not; nobody but the loop's own thread may say so.

        Where it was announced, ``is_part`` says that only a part of it is over.
        """
        if self._descriptor < 0 or threading.get_ident() != self._thread:
            return
        if is_part and self._phase is phase:
            self.enter(phase)
            return
        now = time.monotonic_ns()
        self._longest[phase - 1] = max(self._longest[phase - 1], now - self._moved)
        self._moved = now
        if self._phase in (Phase.STEP, Phase.COMPILE):
            self._surprises |= 1 << phase
        if self._phase in (phase, Phase.STEP):
            self._phase = self._home or (Phase.COMPILE if self._warm > 0 else Phase.STEP)
        self._write(now)

    def stop(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _write(self, now: int) -> None:
        self._beats += 1
        body = _BOTH.pack(
            _MAGIC,
            self._step,
            now,
            time.time_ns(),
            self._beats,
            _VERSION,
            self._phase,
            self._announced & ~self._surprises,
            self._moved,
            self._steps,
            *self._longest,
            self._beats,
        )
        try:
            os.pwrite(self._descriptor, body, 0)
        except OSError:
            self.stop()


def read(path: Path) -> Beat | None:
    """Return the last beat of a heartbeat file, or None where it never beat or is no heartbeat."""
    for _ in range(_READS):
        try:
            raw = _bytes(path)
            magic, step, monotonic_ns, wall_ns, beats, version, phase, announced, moved_ns, steps = _HEAD.unpack_from(
                raw
            )
        except (OSError, struct.error):
            return None
        if magic != _MAGIC or not beats:
            return None
        if version == 0:
            return Beat(step, monotonic_ns, wall_ns, beats, moved_ns=monotonic_ns)
        if len(raw) < SIZE:
            return None
        *longest, again = _TAIL.unpack_from(raw, _HEAD.size)
        if again == beats:
            return Beat(
                step,
                monotonic_ns,
                wall_ns,
                beats,
                moved_ns=moved_ns,
                phase=Phase(phase) if phase in _PHASES else None,
                longest={one: taken / 1e9 for one, taken in zip(Phase, longest) if taken > 0},
                announced=frozenset(one for one in Phase if announced >> one & 1),
                steps=steps,
            )
    return None


_PHASES = frozenset(Phase)
_READS = 5
"""A reader that meets a writer in the middle of its write reads once more."""


def _bytes(path: Path) -> bytes:
    """Return the beginning of a file; a pipe under that name would keep its reader for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, SIZE, 0)
    finally:
        os.close(descriptor)
