"""Lineage, the outside half: which earlier run made the data that a run read, and with what it was made.

A cache says under which name it lies, and not who filled it. The files that a run wrote are digested when it is sealed;
a run that reads one of them brings the facts of the run that wrote it along.

Source: playbook §4.1; silent-failure-corpus L1, D13.
Blind to: caches outside of this project's records; files that were opened after the sampled step.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known, Unknown
from affidavit.fact.term import Method, Vocabulary
from affidavit.fact.values import Cell, Table
from affidavit.record import file
from affidavit.record.fold import read_record
from affidavit.record.manifest import SIZE_BYTES
from affidavit.record.record import Fact, Kind, Record
from affidavit.run.gathered import Gathered
from affidavit.run.holding import holds
from affidavit.run.opened import FILE_COLUMNS, FILES, OPENED, OPENED_COLUMNS, ROWS, Read, rows_of, shown, unchanged

LINEAGE = "cache.lineage"
LINEAGE_COLUMNS = ("path", "holds", "run", "known_by", "made", "term", "built")
BUILT_WITH = ("tokens.supervised_roles", "tokens.form", "tokens.prompt")
"""What an encoding was for: facts that a run which opens it need not have asked for again."""
BY_CONTENT, BY_USE, BY_TIME = "content", "use", "time"
"""The run wrote these very bytes; they came while it ran, and it read them itself; they came while it ran. The last
proves nothing: anybody may have made them beside it.
"""
OWN_NAME_BYTES = 1024
"""A smaller file is known by its place as well as by its content: what is nearly empty is the same everywhere."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """What is known of the files that a run read; ``gap`` says why it is nothing."""

    read: tuple[Read, ...] = ()
    entries: tuple[Entry, ...] = ()
    gap: Unknown | None = None

    def fact(self, project: Path) -> Fact:
        """Return which earlier run made which of them, and what that run resolved to."""
        if self.gap is not None:
            return Fact(name=LINEAGE, state=self.gap)
        rows = tuple(row for entry in self.entries for row in _built_with(entry, project))
        source = f"{len(self.read)} files that were read, against the runs of this project"
        return Fact(name=LINEAGE, state=Known(Table(LINEAGE_COLUMNS, rows[:ROWS]), Method.INSPECTED, source))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file that was read, and the run that had made it."""

    file: Read
    holds: str
    builder: Earlier
    known_by: str


@dataclass
class Earlier:
    """A sealed run that started before this one; its record is read where it is needed."""

    folder: Path
    started: float
    ended: float
    vocabulary: Vocabulary
    raw: bytes = field(repr=False)

    @cached_property
    def record(self) -> Record | None:
        with contextlib.suppress(AffidavitError, OSError):  # what is wrong with another run is told by "ls"
            found = read_record(self.folder, self.vocabulary)
            return found if found.kind is Kind.RUN else None
        return None

    @cached_property
    def files(self) -> tuple[dict[str, Cell], ...]:
        return tuple(rows_of(self.record, FILES, FILE_COLUMNS)) if self.record else ()


def lineage_of(record: Record, gathered: Gathered, *, project: Path, silence: Unknown) -> Lineage:
    """Return what the files that a run read came from.

    Args:
        silence: why nothing is known where no process left a journal.
    """
    opened = tuple(rows_of(record, OPENED, OPENED_COLUMNS))
    states = [fact.state for fact in record.find(OPENED)]
    gap = next((state for state in states if isinstance(state, Unknown)), None if states else silence)
    if gap is not None and not opened:
        return Lineage(gap=gap)
    read = tuple(unchanged(opened))
    return Lineage(read=read, entries=_entries(read, gathered, project, record.vocabulary))


def builder_of(record: Record) -> str:
    """Return the run that made most of what a run read as encoded, or "" where no recorded run did."""
    made = [str(row["run"]) for row in rows_of(record, LINEAGE, LINEAGE_COLUMNS) if row["holds"]]
    return max(sorted(set(made)), key=made.count, default="")


def _entries(read: Sequence[Read], gathered: Gathered, project: Path, vocabulary: Vocabulary) -> tuple[Entry, ...]:
    """Return the files that an earlier run made; where several had made the same bytes, the newest of them."""
    earlier = _earlier(gathered, vocabulary) if read else ()
    found = []
    for one in read:
        builder, known_by = _builder(one, earlier, project)
        if builder is not None:
            with contextlib.suppress(OSError):
                found.append(Entry(file=one, holds=holds(one.path), builder=builder, known_by=known_by))
    return tuple(found)


def _builder(one: Read, earlier: Sequence[Earlier], project: Path) -> tuple[Earlier | None, str]:
    place = shown(one.path, project)
    digits = one.digest.rpartition(":")[2].encode()
    for run in earlier:
        if digits not in run.raw:
            continue
        for row in run.files:
            if row["digest"] != one.digest:
                continue
            if row["use"] == "written" and (row["path"] == place or one.bytes >= OWN_NAME_BYTES):
                return run, BY_CONTENT
            if row["use"] == "read" and row["path"] == place and run.started <= one.modified <= run.ended:
                return run, BY_USE
    during = (run for run in earlier if run.started <= one.modified <= run.ended and run.record is not None)
    return next(during, None), BY_TIME


def _earlier(gathered: Gathered, vocabulary: Vocabulary) -> tuple[Earlier, ...]:
    """Return the sealed runs beside this one that started before it, the newest first."""
    here = window(gathered.folder)[0]
    found = []
    for folder in gathered.folder.parent.iterdir():
        if folder == gathered.folder or not (folder / names.MANIFEST).is_file():
            continue
        started, ended = window(folder)
        if 0 < started < here:
            with contextlib.suppress(AffidavitError, OSError):
                raw = file.read(folder / names.MANIFEST, limit=SIZE_BYTES)
                found.append(Earlier(folder=folder, started=started, ended=ended, vocabulary=vocabulary, raw=raw))
    return tuple(sorted(found, key=lambda run: -run.started))


def window(folder: Path) -> tuple[float, float]:
    """Return from when to when a run went on, as the files of its launcher say; 0 where there is none."""
    began = [path.stat().st_mtime for path in folder.glob("launch.*.json")]
    ended = [path.stat().st_mtime for path in folder.glob("ended.*.json")]
    return min(began, default=0.0), max(ended, default=0.0)


def _built_with(entry: Entry, project: Path) -> list[tuple[Cell, ...]]:
    made = datetime.datetime.fromtimestamp(entry.file.modified, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    head = (shown(entry.file.path, project), entry.holds, entry.builder.folder.name, entry.known_by, made)
    said = _said_of(entry.builder.record) if entry.holds else []
    return [(*head, term, value) for term, value in said or [("", "")]]


def _said_of(record: Record | None) -> list[tuple[str, str]]:
    """Return what a run resolved to where all of its ranks say the same."""
    found = []
    for term in BUILT_WITH:
        states = {repr(fact.state): fact.state for fact in (record.find(term) if record else ())}
        values = {written(state.value) for state in states.values() if isinstance(state, Known)}
        if len(values) == 1 and all(isinstance(state, Known) for state in states.values()):
            found.append((term, values.pop()))
    return found


def written(value: object) -> str:
    """Return a value as a cell of the lineage has it."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
