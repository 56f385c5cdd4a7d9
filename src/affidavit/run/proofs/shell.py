"""One line of the user's, run by a shell, with an end: of time, of every process that it started, of its output.

Blind to: a process that leaves its session and empties its environment; nothing here would find it again.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from affidavit.attach.redact import redact

MARK = "AFFIDAVIT_PROOF"
TAIL_BYTES = 2000
_GONE_SECONDS = 5.0
_SIGNALLED = 128
_NOT_RUN = {126: "it cannot be executed", 127: "there is no such command"}


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a line ended: its exit code, or in ``unrun`` why it says nothing; and the end of what it printed."""

    code: int
    seconds: float
    unrun: str = ""
    tail: str = ""

    @property
    def is_yes(self) -> bool:
        return not self.unrun and self.code == 0

    @property
    def is_no(self) -> bool:
        return not self.unrun and self.code != 0

    @property
    def why(self) -> str:
        """How it ended, with the last line that it printed; no secret of it, for this is written down."""
        last = next((line.strip() for line in reversed(redact(self.tail).splitlines()) if line.strip()), "")
        return (self.unrun or f"exit code {self.code}") + (f" ({last:.120})" if last else "")


def run(line: str, *, folder: Path, environment: Mapping[str, str], seconds: float) -> Said:
    """Return what a shell made of a line; whatever it started is gone afterwards, and nothing of it is printed."""
    mark = secrets.token_hex(16)
    began = time.monotonic()
    with tempfile.TemporaryFile() as printed:
        try:
            started = subprocess.Popen(
                [shutil.which("bash") or "/bin/sh", "-c", line],
                cwd=folder,
                env={**environment, "PWD": str(folder), MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return Said(code=-1, seconds=0.0, unrun=f"no shell: {error.strerror}")
        unrun = ""
        try:
            code = started.wait(seconds)
        except subprocess.TimeoutExpired:
            unrun = f"no end within {seconds:g} s"
        finally:
            _end(started.pid, mark)
            code = started.wait()
        took = time.monotonic() - began
        if not unrun:
            ended = -code if code < 0 else code - _SIGNALLED  # a shell says of a command in a list how it died
            died = f"ended by signal {ended}" if 0 < ended < signal.NSIG else ""
            unrun = died or _NOT_RUN.get(code, "")
        size = printed.seek(0, os.SEEK_END)
        printed.seek(max(0, size - TAIL_BYTES))
        tail = printed.read(TAIL_BYTES).decode(errors="replace")
    return Said(code=code, seconds=took, unrun=unrun, tail=tail)


def _end(session: int, mark: str) -> None:
    """End the session, and whatever left it and still carries our mark in its environment."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    wanted = f"{MARK}={mark}".encode()
    until = time.monotonic() + _GONE_SECONDS
    while _killed(wanted) and time.monotonic() < until:
        time.sleep(0.01)


def _killed(wanted: bytes) -> int:
    """Kill whatever carries a mark, and return how many there were; one that is dead has no environment left."""
    found = 0
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (place / "environ").read_bytes().split(b"\0"):
                found += 1
                os.kill(int(place.name), signal.SIGKILL)
    return found
