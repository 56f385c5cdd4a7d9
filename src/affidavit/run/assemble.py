"""The case of a run: its record, and every other record that it is held against, under its role."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from affidavit.case import SUBJECT, Case
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import Scope, Vocabulary
from affidavit.fact.values import Value
from affidavit.record import canonical, file, manifest, plain, seal
from affidavit.record.compare import differ
from affidavit.record.fold import read_record
from affidavit.record.lock import read_lock
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.runs import runs
from affidavit.run.attesting import Notary
from affidavit.run.draft import record_of
from affidavit.run.gathered import gather
from affidavit.run.lineage import builder_of
from affidavit.run.rehearse import on_another_seat
from affidavit.run.sealing import earlier
from affidavit.run.untouched import BUILT_ON, built_on
from affidavit.settings import Settings

PANEL_BYTES = 1 << 20


class PanelError(AffidavitError):
    """A panel's file cannot be read, or two panels say different things of one term."""


@dataclass(frozen=True, kw_only=True)
class _Subject:
    """What is judged: its record, and what decides which other records belong to it."""

    folder: Path
    record: Record
    recipe: str
    host: str


def assemble(folder: Path, settings: Settings, *, vocabulary: Vocabulary, as_of: datetime.date) -> Case:
    """Return the case of a run, sealed or as it stands.

    Its record is the folded one, so a fact that an annotation fells is Unknown here. A role that nothing offers is
    absent, and so are the checks that need it.

    Raises:
        AffidavitError: the run's seal, chain or attempt files, the lock or a panel cannot be read.
    """
    subject = _subject(folder, vocabulary)
    rehearsal, rehearsed = _rehearsal(subject, settings.root, vocabulary)
    roles = {
        SUBJECT: _attested(_on_what(subject, settings, rehearsed), settings, as_of),
        "lock": read_lock(settings.root / names.LOCK, subject.recipe, vocabulary),
        "expected": settings.expected,
        "rehearsal": rehearsal,
        "panel": _panel((*_panels(folder), *settings.panels), vocabulary),
        "built": _builder(subject, vocabulary),
        "parent": _before(subject, vocabulary),
    }
    return Case(records={role: record for role, record in roles.items() if record is not None}, as_of=as_of)


def _subject(folder: Path, vocabulary: Vocabulary) -> _Subject:
    if seal.is_sealed(folder):
        sealed = seal.read_sealed(folder).manifest
        record = read_record(folder, vocabulary)
        return _Subject(folder=folder, record=record, recipe=sealed.recipe, host=sealed.launcher.host)
    gathered = gather(folder)
    start = gathered.told[-1].start if gathered.told else None
    return _Subject(
        folder=folder,
        record=record_of(gathered, vocabulary),
        recipe=start.recipe if start else "",
        host=start.supervisor.host if start else "",
    )


def _on_what(subject: _Subject, settings: Settings, rehearsed: str) -> Record:
    """Return the record of a run with how the records stand that it builds on: now, and not when it was sealed."""
    record = subject.record
    if record.kind not in (Kind.RUN, Kind.REHEARSAL) or BUILT_ON not in record.vocabulary:
        return record
    notary = Notary(
        root=settings.root,
        key=settings.key,
        trusted=settings.trusted,
        revoked=settings.revoked,
        witness=settings.witness,
    )
    return record.with_facts((*record.facts, built_on(record, subject.folder, notary, rehearsal=rehearsed)))


def _attested(record: Record, settings: Settings, as_of: datetime.date) -> Record:
    """Return the record with each person's word that is in force, where no process has said anything of the term."""
    spoken = {fact.name for fact in record.facts}
    said: list[Fact] = []
    for attestation in settings.attestations:
        fact = attestation.fact(as_of)
        if fact is None or fact.name in spoken:
            continue
        ranked = record.vocabulary[fact.name].scope is Scope.RANK
        ranks = tuple(range(record.world)) if ranked else ()
        episodes = range(record.episodes) if ranked else (0,)
        said += [Fact(name=fact.name, state=fact.state, ranks=ranks, episode=episode) for episode in episodes]
    return record.with_facts((*record.facts, *said))


def _rehearsal(subject: _Subject, root: Path, vocabulary: Vocabulary) -> tuple[Record | None, str]:
    """Return the latest sealed rehearsal of the same recipe that started before the run, and its id.

    One that is not as it was sealed has its id and no record: nothing of it is used, and it is told.
    """
    if subject.record.kind is not Kind.RUN:
        return None, ""
    held = runs(root)
    started = next((run.started_ns for run in held if run.folder == subject.folder), None)
    for run in reversed(held):
        if not run.is_sealed or (started is not None and run.started_ns >= started):
            continue
        try:
            sealed = seal.read_sealed(run.folder).manifest
            if sealed.kind is Kind.REHEARSAL and sealed.recipe == subject.recipe:
                record = read_record(run.folder, vocabulary)
                return on_another_seat(record, host=sealed.launcher.host, here=subject.host), run.id
        except AffidavitError:  # what is wrong with another run keeps nobody from judging this one; "ls" names it
            if _is_rehearsal(run.folder, subject.recipe):
                return None, run.id
    return None, ""


def _is_rehearsal(folder: Path, recipe: str) -> bool:
    """Say whether a record that is not as it was sealed calls itself a rehearsal of a recipe."""
    try:
        said = manifest.decode(file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES))
    except AffidavitError:
        return False
    return said.kind is Kind.REHEARSAL and said.recipe == recipe


def _before(subject: _Subject, vocabulary: Vocabulary) -> Record | None:
    """Return the record of an earlier attempt: the newest that means something else, or the newest of all."""
    records = [read_record(place, vocabulary) for place in reversed(earlier(subject.folder))]
    meaning = [term.name for term in vocabulary if term.lock]
    other = (one for one in records if differ(one, subject.record, meaning))
    return next(other, records[0] if records else None)


def _builder(subject: _Subject, vocabulary: Vocabulary) -> Record | None:
    """Return the folded record of the run that made the encoding which this one read, or None where it is gone."""
    run = builder_of(subject.record)
    if not run or Path(run).name != run:
        return None
    try:
        return read_record(subject.folder.parent / run, vocabulary)
    except (AffidavitError, OSError):
        return None  # what it was is in the lineage as well


def _panels(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted((folder / names.PANELS).glob("*.json")))


def _panel(paths: Iterable[Path], vocabulary: Vocabulary) -> Record | None:
    """Return what panels say, as one record; each value is known as well as its term needs, by the panel's word.

    A panel is ``{"format": 1, "facts": {"attention.kernels": ["math"]}}``, values as in ``affidavit.toml``.
    """
    facts: dict[str, Fact] = {}
    sources: list[str] = []
    for path in paths:
        sources.append(path.name)
        for name, value in _read_panel(path, vocabulary).items():
            fact = Fact(
                name=name, state=Known(value, vocabulary[name].least, path.name), ranks=_ranks(name, vocabulary)
            )
            before = facts.setdefault(name, fact)
            if isinstance(before.state, Known) and before.state.value != value:
                raise PanelError(_unreadable(path, f"the value of {name} that {before.state.source} has", f"{value}"))
    if not sources:
        return None
    return Record(kind=Kind.PANEL, subject=", ".join(sources), facts=ordered(facts.values()), vocabulary=vocabulary)


def _ranks(name: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    return (0,) if vocabulary[name].scope is Scope.RANK else ()


def _read_panel(path: Path, vocabulary: Vocabulary) -> dict[str, Value]:
    try:
        match canonical.parse(file.read(path, limit=PANEL_BYTES)):
            case {"format": 1, "facts": dict(said), **rest} if not rest and said:
                return {name: plain.read(vocabulary[name], raw) for name, raw in said.items()}
            case other:
                saw = f"{other!r:.120}"
    except AffidavitError as error:
        raise PanelError(_unreadable(path, "a panel of format 1", str(error))) from error
    raise PanelError(_unreadable(path, '{"format": 1, "facts": {TERM: VALUE, …}}', saw))


def _unreadable(path: Path, expected: str, saw: str) -> str:
    return refusal(
        subject=f"panel {path}",
        expected=expected,
        saw=saw,
        means="The panel cannot be held against a run.",
        action="Write it again, or take it out of affidavit.toml.",
        unaffected="the run's own record",
    )
