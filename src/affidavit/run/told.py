"""What sealed runs tell of the files that they made and used, and whose a file was when another run read it.

Bytes alone do not tell whose they are: every fine-tuning of one base model writes the same tokenizer and the same
config. Whose a file was is asked in this order: who wrote to that very path, who had saved a model around it, and only
then who wrote such bytes, when the file is of a time at which that run can have made it.

Source: the facts of seals; the mark beside a model, where several runs wrote the same bytes.
Blind to: a copy that the reading run made itself, with a new time of change; clocks that differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from affidavit.fact.observation import Known
from affidavit.record import artifact, manifest
from affidavit.record.manifest import Manifest
from affidavit.record.record import Record
from affidavit.record.runs import RunFolder
from affidavit.run.code import LISTING
from affidavit.run.lineage import OWN_NAME_BYTES
from affidavit.run.listing import Listing, read_listing
from affidavit.run.opened import FILE_COLUMNS, FILES, OPENED, OPENED_COLUMNS, rows_of, shown
from affidavit.run.origin import read_mark
from affidavit.run.saved import relative


@dataclass(frozen=True, kw_only=True)
class Read:
    """A file that a run read, with its digest when that run was sealed."""

    path: str
    digest: str
    bytes: int


@dataclass(eq=False)
class Told:
    """A sealed run as its manifest tells of it: what it saved, wrote, opened, and was asked for."""

    folder: RunFolder
    project: Path
    sealed: Manifest

    @cached_property
    def record(self) -> Record:
        return manifest.to_record(self.sealed)  # as sealed: a fact that fell shows what was read all the same

    @cached_property
    def started(self) -> float:
        return self.sealed.attempts[0].started.timestamp() if self.sealed.attempts else 0.0

    @cached_property
    def places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.path for place in artifact.places(self.record)))

    @cached_property
    def wrote(self) -> dict[str, str]:
        """Each file that it wrote, by its path, with its digest."""
        found = {one.path: one.digest for one in artifact.files(self.record)}
        rows = rows_of(self.record, FILES, FILE_COLUMNS)
        return found | {str(row["path"]): str(row["digest"]) for row in rows if row["use"] == "written"}

    @cached_property
    def made(self) -> frozenset[str]:
        """The digests of what it made: what it had read as well, it passed on."""
        return frozenset(self.wrote.values()) - {one.digest for one in self.reads}

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        rows = (row for row in rows_of(self.record, FILES, FILE_COLUMNS) if row["use"] == "read")
        return tuple(Read(path=str(row["path"]), digest=str(row["digest"]), bytes=int(row["bytes"])) for row in rows)

    @cached_property
    def modified(self) -> dict[str, float]:
        """When each file of data was changed last before it was opened, seconds since 1970."""
        rows = (row for row in rows_of(self.record, OPENED, OPENED_COLUMNS) if row["use"] == "read")
        return {shown(Path(str(row["path"])), self.project): float(row["modified"]) for row in rows}

    @cached_property
    def opened(self) -> tuple[str, ...]:
        """The files that it opened, from the project: data until the sampled step, and configs."""
        states = (fact.state for fact in self.record.facts if fact.name == LISTING)
        listings = (
            read_listing(state, [self.folder.folder], self.project) for state in states if isinstance(state, Known)
        )
        configs = (path for one in listings if isinstance(one, Listing) for path in sorted(one.configs))
        return tuple(dict.fromkeys((*self.modified, *(relative(path, self.project) for path in configs))))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words of its command line, and what follows an equals sign in one, as paths from the project."""
        words = [word for attempt in self.sealed.attempts for word in attempt.command[1:]]
        parts = (part for word in words for part in (word, word.partition("=")[2]) if part and "\0" not in part)
        return tuple(dict.fromkeys(relative(self.project / part, self.project) for part in parts))

    def made_itself(self, path: str) -> bool:
        """Say whether a file that it opened had changed since it began, where that is known."""
        return self.modified.get(path, 0.0) >= self.started


class Runs:
    """The sealed runs of a project, by what they wrote and where they saved."""

    def __init__(self, told: Iterable[Told]) -> None:
        self.by_id = {one.folder.id: one for one in told}
        self._by_path: dict[str, list[Told]] = {}
        self._by_place: dict[str, list[Told]] = {}
        self._by_digest: dict[str, list[Told]] = {}
        for one in self.by_id.values():
            for index, keys in ((self._by_path, one.wrote), (self._by_place, one.places), (self._by_digest, one.made)):
                for key in keys:
                    index.setdefault(key, []).append(one)

    def saver(self, path: str, reader: Told, *, own: bool = False) -> Told | None:
        """Return who had saved last in the narrowest place around a path, when a run opened it.

        Args:
            own: the reader counts among them, as for a word that may be where it saves to.
        """
        for place in (path, *map(str, PurePosixPath(path).parents)):
            found = self._last(self._by_place.get(place, ()), path, reader, own=own)
            if found is not None:
                return found if _can_have(found, path, reader) else None
        return None

    def marked(self, path: str, reader: Told) -> Told | None:
        """Return the earlier run that the mark beside a copy of its model names."""
        mark = read_mark(reader.project / path)
        found = self.by_id.get(mark.run) if mark is not None else None
        return found if found is not None and found.started < reader.started else None

    def newest(self, place: str) -> Told | None:
        """Return who saved to a place last of all."""
        return max(self._by_place.get(place, ()), key=lambda one: (one.started, one.folder.id), default=None)

    def whose(self, read: Read, reader: Told) -> tuple[Told, ...]:
        """Return whose a file was that a run read; several runs where bytes alone speak, and no mark says which."""
        at = self._last(self._by_path.get(read.path, ()), read.path, reader) or self.saver(read.path, reader)
        if at is not None:
            return (at,) if read.digest in at.wrote.values() else ()
        if read.bytes < OWN_NAME_BYTES or reader.made_itself(read.path):
            return ()
        found = [
            one
            for one in self._by_digest.get(read.digest, ())
            if one.started < reader.started and _can_have(one, read.path, reader)
        ]
        mark = read_mark((reader.project / read.path).parent) if len(found) > 1 else None
        return tuple([one for one in found if mark and one.folder.id == mark.run] or found)

    def _last(self, runs: Iterable[Told], path: str, reader: Told, *, own: bool = False) -> Told | None:
        """Return the run that had come last; the reader itself where the file is of its own time."""
        own = own or reader.made_itself(path)
        came = (one for one in runs if one.started < reader.started or (own and one is reader))
        return max(came, key=lambda one: (one.started, one.folder.id), default=None)


def _can_have(run: Told, path: str, reader: Told) -> bool:
    """Say whether a file that another run opened can be this one's work: it was there before, or it was not."""
    return reader.modified.get(path, run.started) >= run.started
