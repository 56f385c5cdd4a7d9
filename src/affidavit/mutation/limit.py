"""A time limit that needs no tracer and no thread: a timer's signal in the main thread.

A thread beside the test would make every fork in it a warning, and a tracer is the coverage tool's. The signal is
SIGALRM; where a test takes that for itself, SIGPROF counts the processor's time instead, and waits are not seen.

Blind to: a call into C that never comes back; a loop that catches every BaseException may take several signals.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_AGAIN_SECONDS = 0.05
Handler = Callable[[int, FrameType | None], Any] | int | None


class TimeIsUp(BaseException):
    """No Exception: what a program does about its own errors is not asked."""


class Limit:
    """Ends what runs inside of :meth:`of` after some seconds; without a main thread or a timer, it ends nothing."""

    def __init__(self) -> None:
        self.works = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self.taken = False
        self._armed = False

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Raise TimeIsUp inside once the time is over, again and again until it is left.

        Afterwards the handler and the timer that were there before are there again, with the time that is left of it.
        """
        if not self.works:
            yield
            return
        number, timer = (signal.SIGPROF, signal.ITIMER_PROF) if self.taken else (signal.SIGALRM, signal.ITIMER_REAL)
        before: Handler = signal.getsignal(number)
        left = (0.0, 0.0)
        try:
            self._armed = True
            signal.signal(number, self._end)
            left = signal.setitimer(timer, seconds, _AGAIN_SECONDS)
            yield
        finally:
            self._disarm(number, timer, before, left)

    def _disarm(self, number: int, timer: int, before: Handler, left: tuple[float, float]) -> None:
        while True:
            try:
                self._armed = False
                if signal.getsignal(number) != self._end:
                    self.taken = True
                    return  # the test's own handler and timer: not ours to touch
                signal.setitimer(timer, 0.0)
                signal.signal(number, signal.SIG_DFL if before is None else before)
                if left[0]:
                    signal.setitimer(timer, *left)
                return
            except TimeIsUp:
                continue

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            raise TimeIsUp
