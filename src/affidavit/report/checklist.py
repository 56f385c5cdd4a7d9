"""The seven lines: one a landmine, with its evidence and the day its checks were last proved able to fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from affidavit.case import Need
from affidavit.check.finding import Finding, Landmine, Verdict
from affidavit.fact.term import Scope
from affidavit.report.evidence import evidence
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line

_WORST_FIRST = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.REVIEW, Verdict.PASS, Verdict.NOT_APPLICABLE)
"""The order of what blocks: exit 1, exit 4, a word from a person, nothing."""
_MARKS = {
    Verdict.FAIL: Span("✗", Tone.BAD),
    Verdict.UNKNOWN: Span("?", Tone.DOUBT),
    Verdict.REVIEW: Span("!", Tone.DOUBT),
    Verdict.PASS: Span("✓", Tone.GOOD),
    Verdict.NOT_APPLICABLE: Span("-", Tone.FAINT),
}
_TITLE = max(len(landmine.title) for landmine in Landmine)
_INDENT = len("✗ 4.3 ")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: a verdict, or in ``uncovered`` why there is none; being not covered is never a pass."""

    landmine: Landmine
    verdict: Verdict | None
    uncovered: str = ""
    evidence: tuple[str, ...] = ()
    proved: str = ""


def checklist(statement: Statement) -> tuple[Row, ...]:
    """Return one row for each landmine, in order; of several trainings its evidence is that of the worst.

    A landmine none of whose checks this record owes is not covered, and the row says why.
    """
    return tuple(_row(statement, landmine) for landmine in Landmine)


def mark_of(verdict: Verdict) -> Span:
    """Return the sign that stands for a verdict."""
    return _MARKS[verdict]


def worst(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict a reader must hear of first."""
    return min((finding.verdict for finding in findings), key=_WORST_FIRST.index)


def _row(statement: Statement, landmine: Landmine) -> Row:
    findings = statement.under(landmine)
    if not findings:
        exists = any(check.landmine is landmine for check in statement.checks)
        why = "no check is owed here" if exists else "not in this version"
        return Row(landmine=landmine, verdict=None, uncovered=why)
    told = min(findings, key=lambda finding: _WORST_FIRST.index(finding.verdict))
    phrases = evidence(replace(statement.case, episode=told.episode), findings)
    if phrases and _is_ranked(statement, findings):
        phrases = (*phrases, *_extent(statement, told.episode))
    return Row(
        landmine=landmine,
        verdict=told.verdict,
        evidence=phrases,
        proved=_proved(statement, findings),
    )


def _is_ranked(statement: Statement, findings: tuple[Finding, ...]) -> bool:
    """Say whether what is told was read in processes that trained, and not outside of them."""
    words = statement.case.vocabulary
    names = {Need.parse(need).name for finding in findings for need in finding.cites}
    return any(words[name].scope is Scope.RANK for name in names if name in words)


def _extent(statement: Statement, episode: int) -> Iterator[str]:
    """Yield of how many ranks the evidence speaks and of which training, where there is more than one."""
    subject = statement.case.subject
    if subject.world > 1:
        seen = "" if statement.attached == subject.world else f"{statement.attached} of "
        yield f"{seen}{subject.world} ranks"
    if subject.episodes > 1:
        yield f"training {episode + 1} of {subject.episodes}"


def _proved(statement: Statement, findings: tuple[Finding, ...]) -> str:
    """Say since when every check of a row is known to be able to fail: the oldest proof speaks for all."""
    checks = dict.fromkeys(finding.check for finding in findings)
    proofs = [drill.date for check, drill in statement.drills.items() if check in checks and drill.is_proof]
    if len(proofs) == len(checks):
        return f"proved {min(proofs)}"
    return f"{len(proofs)} of {len(checks)} drilled" if proofs else "never drilled"


def lines(rows: Iterable[Row]) -> Iterator[Line]:
    """Yield the checklist as text: a line for each landmine, and its evidence beneath where there is some."""
    for row in rows:
        title = f"{row.landmine.title:<{_TITLE}}  "
        if row.verdict is None:
            head = Span(f"· {row.landmine.section} ", Tone.FAINT)
            yield line(Span(f"{title}not covered: {row.uncovered}", Tone.FAINT), head=head, indent=_INDENT)
            continue
        mark = mark_of(row.verdict)
        head = Span(f"{mark.text} {row.landmine.section} ", mark.tone)
        word = Span(row.verdict.value, mark.tone)
        yield line(title, word, Span(f"  {row.proved}", Tone.FAINT), head=head, indent=_INDENT)
        if row.evidence:
            yield line(Span("; ".join(row.evidence), Tone.FAINT), indent=_INDENT)
