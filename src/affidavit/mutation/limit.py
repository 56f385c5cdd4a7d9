"""A time limit that needs no tracer and no thread: a timer's signal in the main thread.

A thread beside the test would make every fork in it a warning, and a tracer is the coverage tool's. The signal is
SIGALRM; where a test takes that for itself, SIGPROF counts the processor's time instead, and waits are not seen.

A loop that catches whatever is raised in it is left from one of its other lines, with a tracer for that moment.

Blind to: a call into C that never comes back.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_AGAIN_SECONDS = 0.05
_PATIENCE = 2
"""So many signals are simply raised; a program that is still there then catches them."""
_OURS = ("affidavit.mutation.", "affidavit.pytest_plugin.", "_pytest.", "pluggy.", "contextlib", "threading")
Handler = Callable[[int, FrameType | None], Any] | int | None


class TimeIsUp(BaseException):
    """No Exception: what a program does about its own errors is not asked."""


class Limit:
    """Ends what runs inside of :meth:`of` after some seconds; without a main thread or a timer, it ends nothing."""

    def __init__(self) -> None:
        self.works = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self.taken = False
        self._armed = False
        self._fired = 0
        self._tracer: Any = None

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
        self._fired, self._tracer, began = 0, sys.gettrace(), time.monotonic()
        try:
            self._armed = True
            signal.signal(number, self._end)
            left = signal.setitimer(timer, seconds, _AGAIN_SECONDS)
            yield
        finally:
            rest = max(left[0] - (time.monotonic() - began), 0.001) if left[0] else 0.0
            self._disarm(number, timer, before, (rest, left[1]))

    def _disarm(self, number: int, timer: int, before: Handler, left: tuple[float, float]) -> None:
        while True:
            try:
                self._armed = False
                if self._fired > _PATIENCE:
                    sys.settrace(self._tracer)
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
        if not self._armed:
            return
        self._fired += 1
        if self._fired <= _PATIENCE:
            raise TimeIsUp
        self._insist(frame, self._fired - _PATIENCE)

    def _insist(self, frame: FrameType | None, lines: int) -> None:
        """Raise some lines later, each time at another one, until one of them is outside of every ``try``."""
        left = lines

        def trace(at: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if _is_ours(at):
                return None
            left -= event == "line"
            if left < 0 and self._armed:
                raise TimeIsUp
            return trace

        sys.settrace(trace)
        while frame is not None and not _is_ours(frame):
            frame.f_trace = trace
            frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_OURS)
