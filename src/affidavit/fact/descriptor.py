"""Descriptors of ours that stay open while somebody else's program runs."""

from __future__ import annotations

import os
from pathlib import Path

_STREAMS = 3
"""Standard input, output and error have the numbers below this one."""


def hold(path: Path, flags: int) -> int:
    """Open a file for as long as the run goes on, and return its descriptor, which no child inherits.

    Where a standard stream was closed, as a daemon's often is, the system would give its number to the next file, and
    whatever a library writes to standard error would stand in that file.

    Raises:
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    if descriptor >= _STREAMS:
        return descriptor
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _STREAMS)
    finally:
        os.close(descriptor)
