"""What stands beside the seven lines, where there is any: own gates, corrections, people's words, waivers.

Blind to: a correction of a run that this one neither builds on nor is locked to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.check.finding import Verdict
from affidavit.fact.values import Cell, Table
from affidavit.report.checklist import mark_of
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line

_GOOD = ("PROVED", "WEAK")
_SILENT = -1
_KIND = max(map(len, ("gate", "correction", "attested", "waiver")))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One line: what kind of thing it is, which one, how it stands, and what is said of it."""

    kind: str
    verdict: Verdict
    name: str
    said: str


def standing(statement: Statement) -> tuple[Standing, ...]:
    """Return a line for each gate, correction, attestation and waiver that touches what is judged; mostly none."""
    return (
        *_gates(statement),
        *(
            Standing(kind="correction", verdict=Verdict.REVIEW, name=one.name, said=one.said)
            for one in statement.corrections
        ),
        *_attested(statement),
        *(
            Standing(
                kind="waiver",
                verdict=Verdict.REVIEW,
                name=waiver.target,
                said=f"until {waiver.until}: {waiver.reason} ({waiver.author})",
            )
            for waiver in statement.decision.in_force
        ),
    )


def lines(found: Iterable[Standing]) -> Iterator[Line]:
    """Yield them as text."""
    for one in found:
        mark = mark_of(one.verdict)
        head = Span(f"{mark.text} {one.kind:<{_KIND}}  ", mark.tone)
        yield line(f"{one.name}  ", Span(one.said, Tone.FAINT), head=head, indent=len(head.text))


def _gates(statement: Statement) -> Iterator[Standing]:
    answers = {str(row["gate"]): row for row in _rows(statement, "gates.answers", gate=str, code=int, why=str)}
    for row in _rows(statement, "instruments.proofs", kind=str, name=str, word=str, date=str, why=str):
        if row["kind"] != "gate":
            continue
        answer = answers.get(str(row["name"]))
        verdict, said = _told(row, answer)
        yield Standing(kind="gate", verdict=verdict, name=str(row["name"]), said=said)


def _told(row: dict[str, Cell], answer: dict[str, Cell] | None) -> tuple[Verdict, str]:
    """Return how a gate stands, the worse of what it said and of what its word is worth."""
    is_good = row["word"] in _GOOD
    proved = f"proved {row['date']}" if is_good else f"{row['word']}, {row['why']}"
    worth = Verdict.PASS if is_good else Verdict.UNKNOWN if row["word"] == "UNPROVED" else Verdict.FAIL
    if answer is None:
        return worth, proved
    if answer["code"] == 0:
        return worth, f"says yes; {proved}"
    if answer["code"] == _SILENT:
        return (Verdict.FAIL if worth is Verdict.FAIL else Verdict.UNKNOWN), f"{answer['why']}; {proved}"
    return Verdict.FAIL, f"says no: {answer['why']}; {proved}"


def _attested(statement: Statement) -> Iterator[Standing]:
    texts = dict.fromkeys(("question", "answer", "words", "author", "until", "why"), str)
    for row in _rows(statement, "attestations.answers", **texts):
        said = f"{row['answer']}, {row['author']}, until {row['until']}" if row["answer"] else ""
        told = "; ".join(str(part) for part in (said, row["words"], row["why"]) if part)
        verdict = Verdict.UNKNOWN if row["why"] else Verdict.FAIL if row["answer"] == "no" else Verdict.PASS
        yield Standing(kind="attested", verdict=verdict, name=str(row["question"]), said=told)


def _rows(statement: Statement, term: str, /, **shape: type) -> tuple[dict[str, Cell], ...]:
    case = statement.case
    table = next((value for _, value in case.values(term)), None) if term in case.vocabulary else None
    return table.records(**shape) if isinstance(table, Table) else ()
