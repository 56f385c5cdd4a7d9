"""What lint says to a person: place by place, as a compiler does, and one line when there is nothing to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affidavit.check.finding import Finding, Verdict
from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Tally
from affidavit.report.checklist import mark_of
from affidavit.report.known import counted
from affidavit.report.outside import given
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line

_LOUD = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.REVIEW)
_INDENT = 2
_HEAD = len(f"{Verdict.UNKNOWN.value}  ")


def lint_report(said: Statement, *, notes: bool) -> Iterator[Line]:
    """Yield each finding that is no pass with all its places, then what was examined.

    Args:
        notes: whether deprecated names are listed, and not only counted.
    """
    yield from loud_findings(said)
    noted = _rows(said, "names.noted")
    if noted and notes:
        yield line(Span("deprecated, or with another meaning by now", Tone.STRONG))
        yield from noted
        yield line()
    yield _summary(said, 0 if notes else len(noted))


def loud_findings(said: Statement) -> Iterator[Line]:
    """Yield each finding that is no pass with all its places, the worst first."""
    for verdict in _LOUD:
        for finding in said.findings:
            if finding.verdict is verdict:
                yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[Line]:
    mark = mark_of(finding.verdict)
    title = f"  {finding.landmine.section} {finding.landmine.title}"
    head = Span(finding.verdict.value, mark.tone)
    yield line(Span(finding.check, Tone.STRONG), Span(title, Tone.FAINT), head=head, indent=_HEAD)
    placed = [site for site in finding.sites if site.said]
    for site in placed:
        where = f"{site.path}:{site.line}" if site.line else site.path
        yield line(Span(where, Tone.STRONG), f"  {site.key}  ", Span(site.said, mark.tone), indent=_INDENT)
    message = finding.message.removeprefix(f"{finding.check}: ").split("\n")
    for part in message[1:] if placed else message:
        yield line(Span(part, Tone.FAINT), indent=_INDENT)
    yield line()


def _rows(said: Statement, term: str) -> tuple[Line, ...]:
    tables = [value for _, value in said.case.values(term) if isinstance(value, Table)]
    rows = [row for table in tables for row in table.records(path=str, line=int, callee=str, name=str, said=str)]
    return tuple(
        line(
            Span(f"{row['path']}:{row['line']}", Tone.STRONG),
            f"  {row['callee']}({row['name']}=)  ",
            Span(str(row["said"]), Tone.FAINT),
            indent=_INDENT,
        )
        for row in rows
    )


def _summary(said: Statement, noted: int) -> Line:
    fact = next(iter(said.case.facts("names.examined")), None)
    state = fact.state if fact is not None else None
    tally = state.value if isinstance(state, Known) and isinstance(state.value, Tally) else Tally("names", ())
    source = state.source if isinstance(state, Known) else ""
    counts = ", ".join(f"{number} {verdict.value}" for verdict, number in said.decision.counts)
    read = [text for noun in ("gate", "alarm", "reference") for text in _examined(said, noun)]
    told = [f"{counted(given(tally), 'name')} {source}"] if given(tally) or not read else []
    told += read
    told += [counts or "nothing was judged"]
    told += [f"{counted(noted, 'name')} deprecated (--notes lists them)"] if noted else []
    waived = len({finding for finding, _ in said.decision.waived})
    told += [f"{waived} waived"] if waived else []
    return line(Span("affidavit lint", Tone.STRONG), f" · {' · '.join(told)}")


def _examined(said: Statement, noun: str) -> Iterator[str]:
    """Yield how many commands were read as gates, or as alarms, and how many references, where there are any."""
    number = next((value for _, value in said.case.values(f"{noun}s.examined")), 0)
    if isinstance(number, int) and number:
        yield counted(number, noun)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What another version does to one name at one place; ``breaks`` where the call raises or loses it."""

    place: str
    name: str
    kind: str
    said: str
    breaks: bool


def upgrade_report(changes: Sequence[Change], *, against: str) -> Iterator[Line]:
    """Yield what another version would break or change in these files, what breaks first."""
    for change in sorted(changes, key=lambda change: not change.breaks):
        tone = Tone.BAD if change.breaks else Tone.DOUBT
        place = Span(change.place, Tone.STRONG)
        yield line(place, f"  {change.name}  ", Span(f"{change.kind}: ", tone), change.said, indent=_INDENT)
    broken = sum(change.breaks for change in changes)
    count = f"{broken} break" if broken else "none breaks"
    told = f"{counted(len(changes), 'place')} differ, {count}" if changes else "nothing that these files say differs"
    yield line(Span("affidavit lint", Tone.STRONG), f" · against {against} · {told}")
