"""The report a person reads: what blocks first, absence folded by its cause, everything well in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from affidavit import __version__
from affidavit.check.finding import Finding, Landmine, Verdict
from affidavit.gate import Waiver
from affidavit.record.annotation import present
from affidavit.record.fold import said_of
from affidavit.report.absence import Absence, absences
from affidavit.report.absence import brief as in_brief
from affidavit.report.checklist import checklist, mark_of
from affidavit.report.checklist import lines as checklist_lines
from affidavit.report.corrected import corrections as correction_lines
from affidavit.report.corrected import title
from affidavit.report.evidence import evidence
from affidavit.report.known import counted
from affidavit.report.standing import lines as standing_lines
from affidavit.report.standing import standing
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line

_BRIEF = len("✓ tree-is-committed  ")
_WORD = Verdict.UNKNOWN.value
_INDENT = len(_WORD) + 2
_NAMES_SHOWN = 6
_SITES_SHOWN = 4
_NOTES_SHOWN = 6
_CORRECTIONS_SHOWN = 2
_REMARKS_SHOWN = 3


def report(statement: Statement) -> Iterator[Line]:
    """Yield the whole report; a clean run takes about a dozen lines.

    Blind to: facts that no check reads, known or not; ``show --facts`` lists them.
    """
    yield from _attachment(statement)
    yield line(
        Span("affidavit", Tone.STRONG), f" {__version__} · {statement.title} · ", Span(statement.stands, Tone.STRONG)
    )
    yield from _corrections(statement)
    yield from checklist_lines(checklist(statement))
    yield from standing_lines(standing(statement))
    yield from _details(statement)
    yield from _notes(statement.ledger.problems, Tone.FAINT)
    yield line()
    yield _summary(statement)


def brief(statement: Statement, *remarks: str, corrections: tuple[str, ...] = ()) -> Iterator[Line]:
    """Yield what is known before a command starts: a line for each check, and grey remarks.

    ``corrections`` of earlier runs of this recipe come first: before a run is when somebody reads them.
    """
    yield line(Span("affidavit", Tone.STRONG), f" {__version__} · {statement.title} · {statement.status}")
    yield from _notes(corrections, Tone.DOUBT)
    for finding in statement.findings:
        if finding.verdict is Verdict.NOT_APPLICABLE:
            continue  # there is nothing to say of it yet
        mark = mark_of(finding.verdict)
        about = "; ".join(evidence(statement.case, [finding]))
        yield line(Span(about, Tone.FAINT), head=Span(f"{mark.text} {finding.check}  ", mark.tone), indent=_BRIEF)
    for remark in remarks[:_REMARKS_SHOWN]:
        yield line(Span(remark, Tone.FAINT), indent=2)
    if len(remarks) > _REMARKS_SHOWN:
        yield line(Span(f"and {len(remarks) - _REMARKS_SHOWN} more of this kind", Tone.FAINT), indent=2)


def _attachment(statement: Statement) -> Iterator[Line]:
    world = statement.case.subject.world
    if statement.is_run and not statement.attached:
        yield line(Span("no training was seen: what follows was known before it, or is unknown", Tone.BAD))
    elif statement.is_run and statement.attached < world:
        yield line(Span(f"attached on {statement.attached} of {world} ranks: the others were not seen", Tone.BAD))


def _corrections(statement: Statement) -> Iterator[Line]:
    """Yield what was said of the record later, the newest first and whole, then the other notes on it."""
    record, said = statement.case.subject, statement.annotations[::-1]
    held = present(record)
    yield from correction_lines(said[:_CORRECTIONS_SHOWN], held)
    yield from map(title, said[_CORRECTIONS_SHOWN:_NOTES_SHOWN])
    if len(said) > _NOTES_SHOWN:
        yield line(f"and {len(said) - _NOTES_SHOWN} earlier; --json has them all", indent=_INDENT)
    told = {said_of(one, held) for one in said}
    yield from _notes(tuple(note for note in record.notes if note not in told), Tone.DOUBT)


def _notes(notes: tuple[str, ...], tone: Tone) -> Iterator[Line]:
    """Yield what a reader must be told beside the findings: standing corrections, torn journals."""
    for note in notes[:_NOTES_SHOWN]:
        yield line(note, head=Span("note", tone), indent=_INDENT)
    if len(notes) > _NOTES_SHOWN:
        yield line(f"and {len(notes) - _NOTES_SHOWN} more; --json has them all", indent=_INDENT)


def _details(statement: Statement) -> Iterator[Line]:
    for verdict, head in ((Verdict.FAIL, Tone.BAD), (Verdict.REVIEW, Tone.DOUBT)):
        for finding in _by_landmine(statement.findings, verdict):
            yield line()
            yield from _finding(statement, finding, Span(verdict.value, head))
            if verdict is Verdict.REVIEW and statement.is_run and "affidavit accept" not in finding.message:
                yield line("accept it: ", Span(f"affidavit accept {statement.title}", Tone.ACTION), indent=_INDENT)
            yield from _waivers(waiver for found, waiver in statement.decision.waived if found == finding)
    folded = tuple(map(_folded, absences(statement)))
    if folded:
        yield line()
    yield from folded
    for waiver in statement.decision.expired:
        yield line(
            f"{waiver.target}: {waiver.author}'s waiver ended on {waiver.until}",
            head=Span("waiver", Tone.DOUBT),
            indent=_INDENT,
        )


def _by_landmine(findings: Iterable[Finding], verdict: Verdict) -> tuple[Finding, ...]:
    order = tuple(Landmine)
    chosen = (finding for finding in findings if finding.verdict is verdict)
    return tuple(sorted(chosen, key=lambda finding: order.index(finding.landmine)))


def _finding(statement: Statement, finding: Finding, head: Span) -> Iterator[Line]:
    episode = f", training {finding.episode + 1}" if statement.case.subject.episodes > 1 else ""
    about = Span(f"  {finding.landmine.section} {finding.landmine.title}{episode}", Tone.FAINT)
    yield line(Span(finding.check, Tone.STRONG), about, head=head, indent=_INDENT)
    for part in finding.message.removeprefix(f"{finding.check}: ").split("\n"):
        yield line(part, indent=_INDENT)
    for site in finding.sites[:_SITES_SHOWN]:
        yield line(f"at {site}", indent=_INDENT)
    if len(finding.sites) > _SITES_SHOWN:
        yield line(f"and {len(finding.sites) - _SITES_SHOWN} more places", indent=_INDENT)


def _waivers(waivers: Iterable[Waiver]) -> Iterator[Line]:
    for waiver in waivers:
        text = f"waived by {waiver.author} until {waiver.until}: {waiver.reason}"
        yield line(Span(text, Tone.FAINT), indent=_INDENT)


def _folded(absence: Absence) -> Line:
    of = counted(len(absence.facts), "fact") if absence.facts else counted(len(absence.checks), "check")
    why = f" ({_some(tuple(map(in_brief, absence.reasons)), 2)})" if absence.reasons else ""
    names = f" {'Fallen' if absence.fell else 'Unseen'}: {_some(absence.facts, _NAMES_SHOWN)}." if absence.facts else ""
    waiting = f" Unanswered: {_some(absence.checks, _NAMES_SHOWN)}."
    return line(f"{of}: {absence.cause.value}{why}.{names}{waiting}", head=Span(_WORD, Tone.DOUBT), indent=_INDENT)


def _some(names: tuple[str, ...], shown: int) -> str:
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def _summary(statement: Statement) -> Line:
    """Return the last line: the verdicts counted, and how many of these checks are proved able to fail, and when."""
    checks = tuple(dict.fromkeys(finding.check for finding in statement.findings))
    if not checks:
        return line(Span("no check was owed: nothing was judged, and that is no pass", Tone.DOUBT))
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in statement.decision.counts)
    drills = statement.drills.values()
    proved = sum(drill.is_proof for drill in drills)
    text = f"{counted(len(checks), 'check')}: {counts}. Drilled: {proved} of {len(checks)}"
    if not drills:
        text += ' (run "affidavit drill")'
    else:
        caught, total = sum(drill.caught for drill in drills), sum(drill.total for drill in drills)
        text += f", {caught} of {total} sabotages caught, last {max(drill.date for drill in drills)}"
    waived = len({finding for finding, _ in statement.decision.waived})
    return line(f"{text}.", f" {counted(waived, 'finding')} waived." if waived else "")
