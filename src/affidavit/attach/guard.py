"""Bounds what an instrument can do to a run: its errors are swallowed with their cause, its time is limited.

The limit is a timer signal, which also ends a sleep or a blocked read. It is used only in the main thread and only
while the run itself uses neither the timer nor the signal; elsewhere a call has no limit, and that is said.
"""

from __future__ import annotations

import hashlib
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitPassed(BaseException):
    """The instrument ran into its time limit."""


def can_limit() -> bool:
    """Say whether a time limit can be set without touching anything of the run's."""
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeLimitPassed` in the body after ``seconds``; timer and handler are as before afterwards."""
    if not can_limit():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeLimitPassed

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def describe(error: BaseException) -> str:
    """Return an error's type and where it arose; its message may hold the run's data: only a digest is kept."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "nowhere"
    digest = hashlib.sha256(str(error).encode("utf-8", "replace")).hexdigest()[:12]
    return f"{type(error).__name__} at {where}, message {digest}"
