"""One run of a command that is measured: it is waited for, and does not outlive us.

Source: signal(7), wait(2).
Blind to: what the command leaves running in the background.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import IO

from affidavit.run.command import Command

STDERR = 2
GRACE_SECONDS = 10.0
"""How long a command that is stopped with us may take to end itself: a launcher has workers to take along."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came to us alone; Ctrl-C of a terminal comes to the command as well."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended, as ``subprocess`` gives it, and its wall time by a clock that never goes back."""

    code: int
    seconds: float


def run(
    command: Command, environment: Mapping[str, str], *, output: IO[bytes] | None = None, with_errors: bool = False
) -> Ended:
    """Run a command to its end.

    Args:
        output: where standard output goes; our own standard error by default.
        with_errors: standard error goes there, too.

    Raises:
        KeyboardInterrupt: we were stopped; the command has ended.
    """
    began = time.perf_counter()
    with _terminable():
        process = subprocess.Popen(
            command.argv,
            executable=command.executable,
            env=environment,
            stdout=STDERR if output is None else output,
            stderr=output if output is not None and with_errors else STDERR,
        )
        try:
            code = process.wait()
            return Ended(code=code, seconds=time.perf_counter() - began)
        except TerminatedError:
            process.terminate()
            raise
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    finally:  # a second Ctrl-C has no patience
        process.kill()
        process.wait()


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM be raised as an error meanwhile; only the first thread can have it so."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
