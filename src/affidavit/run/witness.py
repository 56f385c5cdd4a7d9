"""A second member of our process group, which tells a signal sent to the whole group from one sent to us alone.

The command stays in our process group, so that Ctrl-C, ``timeout``, job control and a kill of the group do what they
do without us. But then a group's SIGTERM has reached the command already, and passing ours on would make it two: a
launcher that is shutting its ranks down would be interrupted while it does. The kernel does not say which of the two
happened; another process in the same group knows.

Blind to: a sender that walks over a control group and takes longer than the window between two of its processes.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

WINDOW_SECONDS = 0.25
_LINE = struct.Struct("<bd")
_ALIVE_CHECK_SECONDS = 1.0


class Witness:
    """Says of each signal that reached us whether the group got it too. Ends when told, or when we are gone."""

    def __init__(self, signals: Collection[signal.Signals]) -> None:
        self._heard: list[tuple[int, float]] = []
        self._read, write = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _listen(signals, write, parent)
            finally:
                os._exit(0)
        os.close(write)
        os.set_blocking(self._read, False)

    def shares(self, number: int) -> bool:
        """Return whether the signal that reached us just now reached the group, waiting a moment for the witness."""
        now = time.monotonic()
        while True:
            self._take()
            self._heard = [(heard, at) for heard, at in self._heard if abs(at - now) < 2 * WINDOW_SECONDS]
            match = next((line for line in self._heard if line[0] == number), None)
            if match is not None:
                self._heard.remove(match)
                return True
            left = now + WINDOW_SECONDS - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                return False

    def dismiss(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._read)

    def _take(self) -> None:
        with suppress(BlockingIOError):
            raw = os.read(self._read, 64 * _LINE.size)
            self._heard += _LINE.iter_unpack(raw[: len(raw) // _LINE.size * _LINE.size])


def _listen(signals: Collection[signal.Signals], write: int, parent: int) -> None:
    """Report each signal; hold none of the user's files open meanwhile, so that no pipe waits for us."""
    for entry in tuple(Path("/proc/self/fd").iterdir()):
        if int(entry.name) != write:
            with suppress(OSError):
                os.close(int(entry.name))
    while os.getppid() == parent:
        heard = signal.sigtimedwait(signals, _ALIVE_CHECK_SECONDS)
        if heard is not None:
            os.write(write, _LINE.pack(heard.si_signo, time.monotonic()))
