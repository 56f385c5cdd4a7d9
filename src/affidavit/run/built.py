"""What was built on a run: later runs that read what it made, measurements taken in it, claims and cards that name it.

Whoever retracts a run knows that one; what stands on it was started by somebody else, weeks later, and reads as well as
before. What proves that a run stands on another is what it opened: bytes that the other alone had made, files in a
place to which the other had saved last. A word of its command line that names such a place is a request, and bytes that
several runs had made are nobody's: both are told, as a perhaps, and nothing is built on them.

Source: playbook §4.4, §4.7; issue 8.
Blind to: weights that were copied elsewhere without config and mark; runs of other projects; documents that name a
model and not its run, but for the card beside it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.claims.sheet import below, read_sheet, sheets
from affidavit.fact.errors import AffidavitError
from affidavit.fact.folder import MARK
from affidavit.record import measurement, seal
from affidavit.record.measurement import Measurement
from affidavit.record.record import Kind
from affidavit.record.runs import RunFolder
from affidavit.run.lineage import BY_TIME, LINEAGE, LINEAGE_COLUMNS
from affidavit.run.opened import rows_of
from affidavit.run.saved import is_in, relative
from affidavit.run.told import Runs, Told

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
    """Everything of a project that stands on a run.

    Args:
        documents: texts that name one of the runs.
        cards: those beside what one of them saved, that do not.
        current: names whose newest measurement was taken in one of the runs, and was not taken back.
        unread: runs of which nobody could say.
    """

    runs: tuple[Built, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    claims: tuple[Claimed, ...] = ()
    documents: tuple[Claimed, ...] = ()
    cards: tuple[Claimed, ...] = ()
    current: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.runs or self.measurements or self.claims or self.documents or self.cards)


def standing_on(run: RunFolder, runs: Iterable[RunFolder], project: Path) -> Standing:
    """Return everything of a project that stands on a run, at first hand or through other runs.

    Args:
        runs: those of the project; one that is not sealed is told as unread.
    """
    told, unread = _told((*runs, run), project)
    since = told.by_id[run.id].started if run.id in told.by_id else 0.0
    later = (one for one in told.by_id.values() if one.started > since)
    evidence = {one.folder.id: list(_evidence(one, told)) for one in later}
    built: dict[str, Built] = {}
    fallen = [run.id]
    for at in fallen:  # grows while it is walked
        for one in _built_on(at, told, evidence):
            if one.run.id not in (run.id, *built):
                built[one.run.id] = one
                fallen += [one.run.id] if one.is_proved else []
    kept = measurement.read(project / measurement.FILE)
    measured = tuple(one for one in kept.measured if one.run in fallen)
    names = tuple(dict.fromkeys(one.name for one in measured if kept.last(one.name) == one))
    known = [told.by_id[at] for at in fallen if at in told.by_id]
    documents = tuple(_documents(fallen, [place for one in known for place in one.places], project))
    return Standing(
        runs=tuple(sorted(built.values(), key=lambda one: told.by_id[one.run.id].started)),
        measurements=measured,
        claims=tuple(_claims(set(names), project)),
        documents=documents,
        cards=tuple(_cards(known, told, {one.path for one in documents}, project)),
        current=tuple(name for name in names if kept.superseded(name) is None),
        unread=unread,
    )


def _told(runs: Iterable[RunFolder], project: Path) -> tuple[Runs, tuple[str, ...]]:
    told: dict[str, Told] = {}
    unread: list[str] = []
    for run in runs:
        if run.id in told or run.is_adopted:
            continue
        try:
            one = Told(run, project, seal.read_sealed(run.folder).manifest)
            if one.sealed.kind is Kind.RUN and one.record is not None:
                told[run.id] = one
        except (AffidavitError, OSError):
            unread.append(run.id)
    return Runs(told.values()), tuple(dict.fromkeys(unread))


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """Why one run stands on another."""

    on: str
    why: str
    is_proof: bool = True


def _built_on(run: str, told: Runs, evidence: Mapping[str, Sequence[_Evidence]]) -> Iterator[Built]:
    """Yield the runs that stand on one at first hand; what proves it comes first."""
    for reader, found in evidence.items():
        here = sorted((one for one in found if one.on == run), key=lambda one: not one.is_proof)
        if here and reader != run:
            why = tuple(dict.fromkeys(one.why for one in here))
            yield Built(run=told.by_id[reader].folder, on=run, why=why, is_proved=here[0].is_proof)


def _evidence(one: Told, told: Runs) -> Iterator[_Evidence]:
    """Yield what a run opened of earlier runs, and what it was asked for of them."""
    for row in rows_of(one.record, LINEAGE, LINEAGE_COLUMNS):
        if row["known_by"] != BY_TIME and not one.made_itself(str(row["path"])):
            yield _Evidence(on=str(row["run"]), why=f"read {row['path']}, which it had made")
    for read in one.reads:
        whose = told.whose(read, one)
        same = f"; {len(whose) - 1} more had written the same" if len(whose) > 1 else ""
        for maker in whose:
            why = f"read {read.path}, which it had written{same}"
            yield _Evidence(on=maker.folder.id, why=why, is_proof=not same)
    for path in one.opened:
        if (base := told.saver(path, one)) is not None:
            yield _Evidence(on=base.folder.id, why=f"opened {path}, where it had saved a model")
    for path in one.asked:
        if (base := told.saver(path, one, own=True)) is not None:
            yield _Evidence(on=base.folder.id, why=f"asked for {path}, where it had saved a model", is_proof=False)
        elif (base := told.marked(path, one)) is not None:
            yield _Evidence(on=base.folder.id, why=f"asked for {path}, whose mark names it", is_proof=False)


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


def _cards(runs: Iterable[Told], told: Runs, named: Container[str], project: Path) -> Iterator[Claimed]:
    """Yield the cards beside what the runs had saved last, those left out that name a run; of one in another, one."""
    for run in runs:
        for place in run.places:
            card = f"{place}/{CARD}"
            is_inner = any(is_in(place, other) for other in run.places if other != place)
            is_last = told.newest(place) is run
            if is_last and not is_inner and card not in named and (project / card).is_file():
                yield Claimed(path=card, line=1, said=CARD, of=run.folder.id)
