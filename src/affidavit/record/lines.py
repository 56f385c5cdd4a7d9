"""Files that are only added to: one document a line, and a line that cannot be read leaves the others stand."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.record import canonical

SIZE_BYTES = 1 << 26


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The documents of a file, each with its number, and what could not be read of it."""

    documents: tuple[tuple[int, object], ...] = ()
    problems: tuple[str, ...] = ()


def append(path: Path, parts: Iterable[msgspec.Struct]) -> None:
    """Add lines at the end, all in one write, so that two writers never mix theirs.

    A line that an earlier writer left torn is ended first.

    Raises:
        CanonicalError: a line that cannot be written; nothing was, then.
        OSError: a file that cannot.
    """
    raw = b"".join(canonical.encode(canonical.legible(msgspec.to_builtins(one))) + b"\n" for one in parts)
    if not raw:
        return
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, b"\n" + raw if torn else raw)
    finally:
        os.close(descriptor)


def read(path: Path) -> Lines:
    """Return the documents of a file; a missing file has none."""
    try:
        with path.open("rb") as file:
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
