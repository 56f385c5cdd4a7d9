"""Lineage, the inside half: which files of data a process read and wrote before its training was under way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from affidavit.attach.early import DATA_SUFFIXES, Listing
from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import StepEnd
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table

COLUMNS = ("path", "use", "bytes", "modified")
_BYTES = 6 * 1024
"""What a value may come to, with room for its frame."""
_PATH_MOST = 512
OWN_FOLDER = ".affidavit"
_MAPS = Path("/proc/self/maps")
_WHEN_TOLD = (".json", ".gz")
"""Suffixes of much that is no data: they come last."""


class DataFiles(Instrument):
    """Emits the files of data that this process opened until the sampled step, with their size and time of change.

    Files that are mapped into memory are among those that are read: what maps them opened them natively. Nothing is
    hashed here; which earlier run had made such a file is found outside, by its content.

    Source: silent-failure-corpus L1 (an encoding of another day is opened, and nobody asks who made it).
    Blind to: data that was read natively and closed again, or by another process; more files than fit into a fact.
    """

    name = "data files"
    emits = ("cache.opened",)

    @at(StepEnd, sampled=True)
    def opened(self, moment: StepEnd, emit: Emit) -> None:
        if emit.spoken:
            return
        early = sys.modules.get("_affidavit_early")
        if early is None:
            emit.unknown("cache.opened", Cause.ATTACHED_LATE, "the interpreter started without us")
            return
        listing: Listing = early.listing
        for path in _mapped():
            listing.add_data(path)
        written = _there(path for path in listing.written if path.endswith(DATA_SUFFIXES) and not _is_ours(path))
        read = ((path, *found) for path, found in listing.read.items() if not _is_ours(path))
        rows = [(path, "read", size, changed) for path, size, changed in sorted(read, key=_rank)]
        rows += [(path, "written", size, changed) for path, size, changed in sorted(written, key=_rank)]
        kept = _fitting(rows)
        source = f"audit of this interpreter until step {moment.step}"
        if listing.late:
            source += ", which began after its first imports"
        if len(kept) < len(rows):
            source += f"; {len(rows) - len(kept)} more do not fit"
        emit.known("cache.opened", Table(COLUMNS, tuple(kept)), source=source, method=Method.EXECUTED)


def _is_ours(path: str) -> bool:
    """Say whether a file is one in which a store of ours keeps its books; its shards are data."""
    return path.endswith(".json") and f"/{OWN_FOLDER}/" in path


def _mapped() -> Iterable[str]:
    """Yield the files of data that are mapped into this process."""
    try:
        lines = _MAPS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        path = line.partition("/")[2]
        if path.endswith(DATA_SUFFIXES):
            yield f"/{path}"


def _there(paths: Iterable[str]) -> list[tuple[str, int, float]]:
    found: list[tuple[str, int, float]] = []
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116  thousands of them, in the run's own process
        except (OSError, ValueError):
            continue
        found.append((path, status.st_size, status.st_mtime))
    return found


def _rank(file: tuple[str, int, float]) -> tuple[bool, str]:
    return file[0].endswith(_WHEN_TOLD), file[0]


def _fitting(rows: list[tuple[str, str, int, float]]) -> list[tuple[Cell, ...]]:
    """Return as many rows as fit, of both uses alike."""
    kept: list[tuple[Cell, ...]] = []
    left = dict.fromkeys(("read", "written"), _BYTES // 2)
    for row in rows:
        path, use = row[0], row[1]
        size = len(path.encode("utf-8", "surrogateescape")) + 64
        if len(path) <= _PATH_MOST and path.isprintable() and size <= left[use]:
            left[use] -= size
            kept.append(row)
    return kept
