"""What was built on a run: later runs that read what it made, measurements taken in it, claims and cards that name it.

Whoever retracts a run knows that one; what stands on it was started by somebody else, weeks later, and reads as well as
before. What proves that a run stands on another is what it opened: bytes that the other wrote, files in a place to
which the other had saved last. A word of its command line that names such a place is a request, and told as one.

Source: playbook §4.4, §4.7; issue 8.
Blind to: weights that were copied elsewhere and loaded from there without their configs; runs of other projects;
documents that name a model and not its run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from affidavit.claims.sheet import below, read_sheet, sheets
from affidavit.fact.errors import AffidavitError
from affidavit.fact.folder import MARK
from affidavit.fact.observation import Known
from affidavit.record import artifact, manifest, measurement, seal
from affidavit.record.manifest import Manifest
from affidavit.record.measurement import Measurement
from affidavit.record.record import Kind, Record
from affidavit.record.runs import RunFolder
from affidavit.run.code import LISTING
from affidavit.run.lineage import BY_TIME, LINEAGE, LINEAGE_COLUMNS, OWN_NAME_BYTES
from affidavit.run.listing import Listing, read_listing
from affidavit.run.opened import FILE_COLUMNS, FILES, OPENED, OPENED_COLUMNS, rows_of
from affidavit.run.saved import is_in, relative

CARD = "README.md"


@dataclass(frozen=True, kw_only=True)
class Built:
    """A run that stands on another one, and what shows it; ``is_proved`` where it is what the run opened."""

    run: RunFolder
    on: str
    why: tuple[str, ...]
    is_proved: bool


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A place of a text that carries a claim, or the id of a run."""

    path: str
    line: int
    said: str
    of: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Everything of a project that stands on a run; ``unread`` are runs of which nobody could say."""

    runs: tuple[Built, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    claims: tuple[Claimed, ...] = ()
    documents: tuple[Claimed, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.runs or self.measurements or self.claims or self.documents)


@dataclass
class _Told:
    """A sealed run as its manifest tells of it: what it saved, wrote, opened, and was asked for."""

    folder: RunFolder
    project: Path
    sealed: Manifest

    @cached_property
    def record(self) -> Record:
        return manifest.to_record(self.sealed)  # as sealed: a fact that fell shows what was read all the same

    @cached_property
    def places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.path for place in artifact.places(self.record)))

    @cached_property
    def wrote(self) -> dict[str, str]:
        """The digest of each file that it wrote, with its path."""
        found = {one.digest: one.path for one in artifact.files(self.record)}
        rows = rows_of(self.record, FILES, FILE_COLUMNS)
        return found | {str(row["digest"]): str(row["path"]) for row in rows if row["use"] == "written"}

    def read_of(self, base: _Told) -> Iterator[str]:
        """Yield the files that another run wrote and this one read; what is nearly empty is the same everywhere."""
        for row in rows_of(self.record, FILES, FILE_COLUMNS):
            path, origin = str(row["path"]), base.wrote.get(str(row["digest"]))
            if row["use"] == "read" and origin is not None and (path == origin or int(row["bytes"]) >= OWN_NAME_BYTES):
                yield path

    @cached_property
    def opened(self) -> tuple[str, ...]:
        """The files that it opened, from the project: data until the sampled step, and configs."""
        rows = (row for row in rows_of(self.record, OPENED, OPENED_COLUMNS) if row["use"] == "read")
        paths = [Path(str(row["path"])) for row in rows]
        states = (fact.state for fact in self.record.facts if fact.name == LISTING)
        listings = (
            read_listing(state, [self.folder.folder], self.project) for state in states if isinstance(state, Known)
        )
        paths += [path for listing in listings if isinstance(listing, Listing) for path in sorted(listing.configs)]
        return tuple(dict.fromkeys(relative(path, self.project) for path in paths))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words of its command line, and what follows an equals sign in one, as paths from the project."""
        words = [word for attempt in self.sealed.attempts for word in attempt.command[1:]]
        parts = (part for word in words for part in (word, word.partition("=")[2]) if part and "\0" not in part)
        return tuple(dict.fromkeys(relative(self.project / part, self.project) for part in parts))

    @property
    def started(self) -> float:
        return self.sealed.attempts[0].started.timestamp() if self.sealed.attempts else 0.0


def standing_on(run: RunFolder, runs: Iterable[RunFolder], project: Path) -> Standing:
    """Return everything of a project that stands on a run, at first hand or through other runs.

    Args:
        runs: those of the project; one that is not sealed is told as unread.
    """
    told, unread = _told((*runs, run), project)
    built: dict[str, Built] = {}
    fallen = [run.id]
    for at in fallen:  # grows while it is walked
        for one in _built_on(at, told):
            if one.run.id not in (run.id, *built):
                built[one.run.id] = one
                fallen += [one.run.id] if one.is_proved else []
    kept = measurement.read(project / measurement.FILE)
    measured = tuple(one for one in kept.measured if one.run in fallen)
    names = {one.name for one in measured if kept.last(one.name) == one}
    return Standing(
        runs=tuple(sorted(built.values(), key=lambda one: told[one.run.id].started)),
        measurements=measured,
        claims=tuple(_claims(names, project)),
        documents=tuple(
            _documents(fallen, [place for at in fallen if at in told for place in told[at].places], project)
        ),
        unread=unread,
    )


def _told(runs: Iterable[RunFolder], project: Path) -> tuple[dict[str, _Told], tuple[str, ...]]:
    told: dict[str, _Told] = {}
    unread: list[str] = []
    for run in runs:
        if run.id in told or run.is_adopted:
            continue
        try:
            one = _Told(run, project, seal.read_sealed(run.folder).manifest)
            if one.sealed.kind is Kind.RUN and one.record is not None:
                told[run.id] = one
        except (AffidavitError, OSError):
            unread.append(run.id)
    return told, tuple(dict.fromkeys(unread))


def _built_on(run: str, told: dict[str, _Told]) -> Iterator[Built]:
    """Yield the runs that stand on one at first hand."""
    base = told.get(run)
    for one in told.values():
        if one.folder.id == run or (base is not None and one.started <= base.started):
            continue
        proof, doubt = list(_lineage(run, one)), []
        if base is not None:
            proof += [f"read {path}, which it had written" for path in one.read_of(base)]
            proof += [f"opened {path}, where it had saved a model" for path in _in(one.opened, base, one, told)]
            doubt += [f"asked for {word}, where it had saved a model" for word in _in(one.asked, base, one, told)]
        if proof or doubt:
            why = tuple(dict.fromkeys((*proof, *doubt)))
            yield Built(run=one.folder, on=run, why=why, is_proved=bool(proof))


def _lineage(run: str, one: _Told) -> Iterator[str]:
    for row in rows_of(one.record, LINEAGE, LINEAGE_COLUMNS):
        if row["run"] == run and row["known_by"] != BY_TIME:
            yield f"read {row['path']}, which it had made"


def _in(paths: Iterable[str], base: _Told, reader: _Told, told: dict[str, _Told]) -> list[str]:
    """Return the paths that lie where a run had saved last when the reader began."""
    inside = (path for path in paths if any(is_in(path, place) for place in base.places))
    return [path for path in inside if _saver(path, reader, told) is base]


def _saver(path: str, reader: _Told, told: dict[str, _Told]) -> _Told:
    """Return who had saved last in the narrowest place around a file that somebody saved, the reader among them."""
    found = [
        (len(PurePosixPath(place).parts), one.started, one.folder.id)
        for one in told.values()
        if one.started <= reader.started
        for place in one.places
        if is_in(path, place)
    ]
    return told[max(found)[-1]]


def _claims(names: set[str], project: Path) -> Iterator[Claimed]:
    for sheet in sheets(below(project)) if names else ():
        for anchor in sheet.anchors:
            if anchor.claim in names:
                path = relative(sheet.path, project)
                yield Claimed(path=path, line=anchor.line, said=anchor.written, of=anchor.claim)


def _documents(runs: Sequence[str], places: Iterable[str], project: Path) -> Iterator[Claimed]:
    """Yield the first line of each text that names one of the runs; cards beside what they saved, ignored or not.

    Marks are left out: they say of themselves whose they are, and ``whence`` tells what fell.
    """
    cards = [card for place in places if (card := project / place / CARD).is_file()]
    for path in dict.fromkeys((*below(project), *cards)):
        text = read_sheet(path).text if path.name not in (MARK, measurement.FILE) else ""
        for run in runs:
            found = re.search(rf"(?<![\w-]){re.escape(run)}(?![\w-])", text) if run in text else None
            if found is not None:
                line = text.count("\n", 0, found.start()) + 1
                yield Claimed(path=relative(path, project), line=line, said=path.name, of=run)
                break
