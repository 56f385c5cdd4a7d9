"""What stands on a page, section by section; plain texts and numbers, so that a template only places them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from affidavit import __version__
from affidavit.check.finding import Verdict
from affidavit.fact.observation import Unknown
from affidavit.record.annotation import by_subject, present
from affidavit.record.record import Record
from affidavit.report.absence import Absence, absences
from affidavit.report.checklist import Row, checklist
from affidavit.report.corrected import REASON, falls
from affidavit.report.implied import implied
from affidavit.report.known import counted
from affidavit.report.page import said
from affidavit.report.page.dossier import Dossier
from affidavit.report.page.findings import Entry, Headline, Told, entries, first, joined, proved, told
from affidavit.report.page.lit import Sample, samples
from affidavit.report.page.provenance import Provenance, command_of, commit_of, provenance
from affidavit.report.page.said import Cell
from affidavit.report.page.training import Moved, Rates, moved, rates
from affidavit.report.standing import standing
from affidavit.report.statement import Statement


@dataclass(frozen=True, kw_only=True)
class Correction:
    """One annotation of the record: who said when what falls, what stands, and what nobody looked at.

    ``more`` is the rest of a reason so long that it would push the verdict from the screen.
    """

    kind: str
    number: int
    author: str
    instead: str
    reason: str
    more: str
    falls: str
    survives: str
    not_reviewed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the checklist."""

    section: str
    title: str
    told: Told | None
    uncovered: str
    evidence: str
    proved: str


@dataclass(frozen=True, kw_only=True)
class Beside:
    """One line beside the checklist: a gate, a correction, an attestation or a waiver."""

    kind: str
    told: Told
    name: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """The facts of one subject."""

    subject: str
    unknown: int
    fell: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Open:
    """What nobody asked for by its name, in English, and who decided it.

    Args:
        is_usual: whether it says nothing special.
        follows: whether it is what something came to that somebody did ask for.
    """

    cell: Cell
    said: str
    owner: str
    is_usual: bool
    follows: bool


@dataclass(frozen=True, kw_only=True)
class Drill:
    """When a check was last seen to fail."""

    check: str
    verdicts: tuple[Told, ...]
    proved: str


@dataclass(frozen=True, kw_only=True)
class View:
    """A whole page."""

    title: str
    status: str
    when: str
    summary: str
    attachment: str
    headline: tuple[tuple[str, str], ...]
    first: Headline | None
    corrections: tuple[Correction, ...]
    notes: tuple[str, ...]
    lines: tuple[Line, ...]
    standing: tuple[Beside, ...]
    fails: tuple[Entry, ...]
    reviews: tuple[Entry, ...]
    absences: tuple[Absence, ...]
    expired: tuple[str, ...]
    samples: tuple[Sample, ...]
    asked: tuple[Cell, ...]
    open: tuple[Open, ...]
    rates: tuple[Rates, ...]
    moved: tuple[Moved, ...]
    provenance: Provenance
    groups: tuple[Group, ...]
    digests: tuple[tuple[str, str, str], ...]
    drills: tuple[Drill, ...]
    version: str
    withheld: int | None
    judged: str
    fell: frozenset[str]


def view(dossier: Dossier) -> View:
    """Return what a page shows of a run; nothing here judges anything."""
    statement, manifest = dossier.statement, dossier.manifest
    record = statement.case.subject
    fails = entries(statement, Verdict.FAIL, is_shared=dossier.is_shared)
    reviews = entries(statement, Verdict.REVIEW, is_shared=dossier.is_shared)
    missing = absences(statement)
    return View(
        title=statement.title,
        status=said.cut(statement.stands),
        when=_when(dossier),
        summary=_summary(statement),
        attachment=_attachment(statement),
        headline=tuple(_headline(dossier)),
        first=first(statement, fails, reviews, missing),
        corrections=tuple(_corrections(dossier)),
        notes=(*manifest.notes, *statement.ledger.problems),
        lines=tuple(map(_line, checklist(statement))),
        standing=tuple(
            Beside(kind=one.kind, told=told(one.verdict), name=said.cut(one.name), said=said.cut(one.said))
            for one in standing(statement)
        ),
        fails=fails,
        reviews=reviews,
        absences=missing,
        expired=tuple(
            f"{waiver.target}: {waiver.author}'s waiver ended on {waiver.until}"
            for waiver in statement.decision.expired
        ),
        samples=samples(dossier),
        asked=tuple(_asked(record)),
        open=tuple(_open(record)),
        rates=rates(record),
        moved=moved(record),
        provenance=provenance(manifest, record),
        groups=tuple(_groups(record)),
        digests=tuple(_digests(dossier)),
        drills=tuple(_drills(statement)),
        version=__version__,
        withheld=dossier.withheld,
        judged=statement.case.as_of.isoformat(),
        fell=frozenset(fact.name for fact in record.facts if fact.was is not None),
    )


def _when(dossier: Dossier) -> str:
    attempts = dossier.manifest.attempts
    if not attempts:
        return ""
    took = int((attempts[-1].ended - attempts[0].started).total_seconds())
    hours, minutes, seconds = took // 3600, took // 60 % 60, took % 60
    long = f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
    return f"{attempts[0].started:%Y-%m-%d %H:%M} UTC, {long}"


def _summary(statement: Statement) -> str:
    if not statement.findings:
        return "no check was owed: nothing was judged, and that is no pass"
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in statement.decision.counts)
    checks = {finding.check for finding in statement.findings}
    able = sum(drill.is_proof for drill in statement.drills.values())
    return f"{counted(len(checks), 'check')}: {counts}. Proved able to fail: {able} of {len(checks)}."


def _attachment(statement: Statement) -> str:
    """Say that ranks were not seen, or nothing: a reader must not take silence for agreement."""
    world = statement.case.subject.world
    if not statement.is_run or statement.attached == world:
        return ""
    if not statement.attached:
        return "no training was seen: what follows was known before it, or is unknown"
    return f"attached on {statement.attached} of {world} ranks: the others were not seen"


def _headline(dossier: Dossier) -> Iterator[tuple[str, str]]:
    subject = dossier.statement.case.subject
    yield "command", command_of(dossier.manifest)
    yield "commit", commit_of(subject)
    ranks = f"{dossier.statement.attached} of {subject.world} attached"
    trainings = f", {subject.episodes} trainings" if subject.episodes > 1 else ""
    attempts = len(dossier.manifest.attempts)
    yield "ranks", f"{ranks}{trainings}{f', {attempts} attempts' if attempts > 1 else ''}"


def _corrections(dossier: Dossier) -> Iterator[Correction]:
    held = present(dossier.statement.case.subject)
    for one in reversed(dossier.statement.annotations):
        yield Correction(
            kind=one.kind.value,
            number=one.seq,
            author=f"{one.author}, {one.time:%Y-%m-%d}",
            instead=f", by {said.cut(one.by)}" if one.by else "",
            reason=one.reason[:REASON],
            more=one.reason[REASON:],
            falls=falls(one, held),
            survives=", ".join(by_subject(one.survives, held)) or "nothing named",
            not_reviewed=one.not_reviewed,
        )


def _line(row: Row) -> Line:
    return Line(
        section=row.landmine.section,
        title=row.landmine.title,
        told=None if row.verdict is None else told(row.verdict),
        uncovered=row.uncovered,
        evidence=joined(row.evidence),
        proved=row.proved,
    )


def _asked(record: Record) -> Iterator[Cell]:
    """Yield each fact that somebody asked for, with what it came to or why nobody knows."""
    for fact in record.facts:
        found = said.cell(record, fact)
        elsewhere = said.asked_elsewhere(record, fact)
        if found.asked is not None:
            yield found
        elif elsewhere is not None:
            yield said.asking(found, *elsewhere)


def _open(record: Record) -> Iterator[Open]:
    for one in implied(record):
        cell = said.cell(record, one.fact)
        yield Open(
            cell=cell,
            said=said.cut(one.said),
            owner=said.cut(one.owner),
            is_usual=one.is_usual,
            follows=one.follows_request and not one.is_usual,
        )


def _groups(record: Record) -> Iterator[Group]:
    for subject, facts in groupby(record.facts, key=lambda fact: fact.name.partition(".")[0]):
        held = tuple(facts)
        fell = sum(fact.was is not None for fact in held)
        unknown = sum(isinstance(fact.state, Unknown) for fact in held) - fell
        yield Group(subject=subject, unknown=unknown, fell=fell, cells=tuple(said.cells(record, held)))


def _digests(dossier: Dossier) -> Iterator[tuple[str, str, str]]:
    yield "manifest.json", dossier.digest, ""
    for kept in dossier.manifest.evidence:
        yield "tokens, in no export" if kept.tokens else "evidence", kept.digest, f"{kept.bytes:,} bytes"


def _drills(statement: Statement) -> Iterator[Drill]:
    order = tuple(Verdict)
    for check in sorted({finding.check for finding in statement.findings}):
        verdicts = {finding.verdict for finding in statement.findings if finding.check == check}
        yield Drill(
            check=check,
            verdicts=tuple(map(told, sorted(verdicts, key=order.index))),
            proved=proved(statement.drills.get(check)),
        )
