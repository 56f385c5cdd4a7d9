"""Bounds what an instrument can do to a run: its errors are swallowed with their cause, its time is limited.

The limit is a timer signal, which also ends a sleep or a blocked read. It is used only in the main thread and only
while the run itself uses neither the timer nor the signal; elsewhere a call has no limit, and that is said.

Blind to: a call into native code that never comes back to the interpreter.
"""

from __future__ import annotations

import functools
import hashlib
import signal
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType

_AGAIN_SECONDS = 1.0
"""A limit that was swallowed on its way (by a bare ``except``, or a destructor) is said again after this long."""
ERRORS_ALLOWED = 2
"""What raises more often than this is not called again."""


class TimeLimitPassed(BaseException):
    """The instrument ran into its time limit."""


def can_limit() -> bool:
    """Say whether a time limit can be set without touching anything of the run's."""
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )


def run_limited(seconds: float, call: Callable[[], None]) -> None:
    """Call, and raise :class:`TimeLimitPassed` in it after ``seconds``; timer and handler are as before afterwards.

    Limits nest: an inner one never outlasts the outer, which goes on with what is left of its time.
    """
    is_inner = _is_ours()
    if not is_inner and not can_limit():
        call()
        return
    left = signal.getitimer(signal.ITIMER_REAL)[0] if is_inner else seconds
    begun = time.monotonic()
    signal.signal(signal.SIGALRM, _stop)
    try:
        # No line may stand between a call and its try: the signal arrives between any two.
        signal.setitimer(signal.ITIMER_REAL, min(seconds, left) or _AGAIN_SECONDS, _AGAIN_SECONDS)
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if is_inner:
            rest = max(left - (time.monotonic() - begun), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, rest, _AGAIN_SECONDS)
        else:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TimeLimitPassed


def _is_ours() -> bool:
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGALRM) is _stop


def shielded(call: Callable[..., None], note: Callable[[str], None]) -> Callable[..., None]:
    """Return a call that keeps its errors from whoever makes it; they are noted, and after some it does nothing."""

    errors = 0

    @functools.wraps(call)
    def shield(*args: object, **kwargs: object) -> None:
        nonlocal errors
        if errors == ERRORS_ALLOWED:
            return
        try:
            call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  an adapter's error is ours, never the run's
            errors += 1
            note(f"{call.__qualname__}: {describe(error)}")

    return shield


def describe(error: BaseException) -> str:
    """Return an error's type, where it arose, and a digest of its way there; its message may hold the run's data."""
    frames = traceback.extract_tb(error.__traceback__)
    steps = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames] or ["nowhere"]
    digest = hashlib.sha256(" ".join(steps).encode("utf-8", "replace")).hexdigest()[:12]
    return f"{type(error).__name__} at {steps[-1]}, traceback {digest}"
