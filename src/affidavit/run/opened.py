"""The files of data that a run opened, as they lie there later, and as its record keeps them.

Blind to: files that were changed, moved or removed since; they are not what the run opened any more.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.fact.observation import Known, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table
from affidavit.record.record import Fact, Record
from affidavit.run.artifacts import LATE_SECONDS, digest

OPENED, FILES = "cache.opened", "cache.files"
OPENED_COLUMNS = ("path", "use", "bytes", "modified")
FILE_COLUMNS = ("path", "use", "digest", "bytes")
SECONDS, SECONDS_PER_GB = 2.0, 0.2
"""How long digesting may take."""
ROWS = 64


@dataclass(frozen=True, kw_only=True)
class Read:
    """A file of data that the run read, as it lies there unchanged."""

    path: Path
    bytes: int
    modified: float
    digest: str


def file_fact(record: Record, *, project: Path, ended: float, silence: Unknown) -> Fact:
    """Return the files of data that a run which is over had opened, with digests of those that are what they were."""
    states = [fact.state for fact in record.find(OPENED)]
    if not any(isinstance(state, Known) for state in states):
        return Fact(name=FILES, state=next(iter(states), silence))
    opened = list(rows_of(record, OPENED, OPENED_COLUMNS))
    written = (row for row in opened if row["use"] == "written")
    found = [("written", one) for one in _digested(_there(written, ended + LATE_SECONDS))]
    found += [("read", one) for one in unchanged(opened)]
    rows = tuple((shown(one.path, project), use, one.digest, one.bytes) for use, one in found)
    source = "read when the run was sealed"
    if len(rows) > ROWS:
        source += f"; {len(rows) - ROWS} more do not fit"
    return Fact(name=FILES, state=Known(Table(FILE_COLUMNS, rows[:ROWS]), Method.INSPECTED, source))


def rows_of(record: Record, name: str, columns: Sequence[str]) -> Iterator[dict[str, Cell]]:
    """Yield the rows that any rank tells of, each once; a record of another version may have other columns."""
    seen: set[str] = set()
    for fact in record.facts:
        value = fact.state.value if fact.name == name and isinstance(fact.state, Known) else None
        if not isinstance(value, Table) or not set(columns) <= set(value.columns):
            continue
        for row in value.records():
            if repr(row) not in seen:
                seen.add(repr(row))
                yield row


def unchanged(opened: Iterable[Mapping[str, Cell]]) -> Iterator[Read]:
    """Yield, with its digest, each file that was read and is still the one that was read."""
    rows = [row for row in opened if row["use"] == "read"]
    for one in _digested(_there(rows, float("inf"))):
        if any(_is(one, row) for row in rows):
            yield one


def _is(one: Read, row: Mapping[str, Cell]) -> bool:
    return (str(one.path), one.bytes, one.modified) == (row["path"], row["bytes"], row["modified"])


def _there(rows: Iterable[Mapping[str, Cell]], latest: float) -> Iterator[Read]:
    for row in rows:
        path = Path(str(row["path"]))
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            if path.is_file() and status.st_mtime <= latest:
                yield Read(path=path, bytes=status.st_size, modified=status.st_mtime, digest="")


def _digested(found: Iterable[Read]) -> Iterator[Read]:
    files = list(found)
    until = time.monotonic() + SECONDS + SECONDS_PER_GB * sum(one.bytes for one in files) / 1e9
    for one in files:
        if time.monotonic() > until:
            return
        with contextlib.suppress(OSError):
            yield replace(one, digest=digest(one.path))


def shown(path: Path, project: Path) -> str:
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)
