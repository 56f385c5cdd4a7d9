"""What is said of a project's numbers to a person: each that is wrong at its place, and a line for each measurement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.values import Tally
from affidavit.report.known import counted
from affidavit.report.lint import loud_findings
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line

_INDENT = 2


def claims_report(said: Statement) -> Iterator[Line]:
    """Yield each finding that is no pass with all its places, then what was examined."""
    yield from loud_findings(said)
    fact = next(iter(said.case.facts("claims.examined")), None)
    state = fact.state if fact is not None else None
    known = state if isinstance(state, Known) else None
    counts = dict(known.value.counts) if known is not None and isinstance(known.value, Tally) else {}
    told = [f"{counted(counts.get('bound', 0), 'claim')} and {counted(counts.get('old values', 0), 'old value')}"]
    told[0] += f" in {known.source}" if known is not None else ""
    told.append(", ".join(f"{number} {verdict.value}" for verdict, number in said.decision.counts))
    waived = len({finding for finding, _ in said.decision.waived})
    told += [f"{waived} waived"] if waived else []
    yield line(Span("affidavit claims", Tone.STRONG), f" · {' · '.join(told)}")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One measurement as it is listed: what it says, when it was made, what doubts it, and where it is stated."""

    claim: str
    says: str
    made: str
    doubt: str
    places: tuple[str, ...]


def claims_list(entries: Iterable[Entry]) -> Iterator[Line]:
    """Yield a line for each measurement, and the places that state it under it."""
    listed = tuple(entries)
    width = max((len(entry.claim) for entry in listed), default=0) + 2
    for entry in listed:
        doubt = Span(f"  {entry.doubt}", Tone.DOUBT) if entry.doubt else Span("")
        head = Span(entry.claim.ljust(width), Tone.STRONG)
        yield line(f"{entry.says}  ", Span(entry.made, Tone.FAINT), doubt, head=head, indent=width)
        yield from (line(Span(place, Tone.FAINT), indent=_INDENT) for place in entry.places)
