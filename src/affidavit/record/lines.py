"""Files that are only added to: one document a line, and a line that cannot be read leaves the others stand."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import canonical

SIZE_BYTES = 1 << 26


class UnwritableError(AffidavitError, OSError):
    """Nothing can be added to a file of lines; an ``OSError``, too, for who asks why."""

    def __init__(self, path: Path, why: OSError) -> None:
        super().__init__(
            refusal(
                subject=path.name,
                expected="a plain file that lines can be added to",
                saw=why.strerror or str(why),
                means="What was to be kept there would be lost.",
                action=f"Look at {path}.",
                unaffected="the lines that are there",
            )
        )
        self.errno, self.strerror = why.errno, why.strerror

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The documents of a file, each with its number, and what could not be read of it."""

    documents: tuple[tuple[int, object], ...] = ()
    problems: tuple[str, ...] = ()


def append(path: Path, parts: Iterable[msgspec.Struct]) -> None:
    """Add lines at the end, all in one write, so that two writers never mix theirs; all of them, or none.

    A line that an earlier writer left torn is ended first.

    Raises:
        CanonicalError: a line that cannot be written; nothing was, then.
        UnwritableError: a file that cannot.
    """
    raw = b"".join(canonical.encode(canonical.legible(msgspec.to_builtins(one))) + b"\n" for one in parts)
    if not raw:
        return
    try:
        descriptor = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            _write(descriptor, b"\n" + raw if torn else raw)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UnwritableError(path, error) from error


def _write(descriptor: int, raw: bytes) -> None:
    """Write all of it. A disk that fills up takes the half of a line and says so only in a number."""
    written = os.write(descriptor, raw)
    if written == len(raw):
        return
    size = os.fstat(descriptor).st_size
    if os.pread(descriptor, written, size - written) == raw[:written]:  # nobody has written since
        os.ftruncate(descriptor, size - written)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse_unwritable(path: Path) -> None:
    """See before the work that what comes of it can be kept.

    Raises:
        UnwritableError: nothing could be added to the file, or no such file be made.
    """
    try:
        os.close(_open(path, os.O_RDWR | os.O_APPEND))
    except FileNotFoundError as error:
        if path.is_symlink() or not os.access(path.parent, os.W_OK):
            raise UnwritableError(path, error) from error
    except OSError as error:
        raise UnwritableError(path, error) from error


def read(path: Path) -> Lines:
    """Return the documents of a file; a missing file has none."""
    try:
        with os.fdopen(_open(path, os.O_RDONLY), "rb") as file:
            raw = file.read(SIZE_BYTES + 1)
    except FileNotFoundError:
        return Lines()
    except OSError as error:
        return Lines(problems=(f"{path.name}: {error.strerror}",))
    documents: list[tuple[int, object]] = []
    problems = [f"{path.name}: only the first {SIZE_BYTES:,} bytes were read"] if len(raw) > SIZE_BYTES else []
    for number, line in enumerate(raw[:SIZE_BYTES].split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            documents.append((number, canonical.parse(line)))
        except canonical.CanonicalError as error:
            problems.append(f"{path.name}:{number}: {error}")
    return Lines(documents=tuple(documents), problems=tuple(problems))


def _open(path: Path, flags: int) -> int:
    """Open a plain file, and wait for nobody: a pipe under its name would hold us for ever."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "no plain file")
