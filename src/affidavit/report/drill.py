"""What a drill showed: which sabotages were caught, which were missed, and which values no sabotage moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.check.drill import Proof
from affidavit.record.ledger import Instrument
from affidavit.report.terminal import Line, Span, Tone, line

_INDENT = 4


@dataclass(frozen=True, kw_only=True)
class Drilling:
    """One check, broken on its own example, on a run, and in worlds where the fault really happens.

    ``unread`` are needed values that no sabotage of the author's moves; ``refused`` says why the run's case could not
    be broken. ``check`` is the name of a world's folder where no check has that name.
    """

    check: str
    proofs: tuple[Proof, ...]
    unread: tuple[str, ...] = ()
    refused: str = ""

    @property
    def caught(self) -> int:
        return sum(proof.caught for proof in self.proofs)

    @property
    def is_proof(self) -> bool:
        return 0 < len(self.proofs) == self.caught


def lines(drillings: Iterable[Drilling]) -> Iterator[Line]:
    """Yield a line for each check, what it missed beneath it, and the count of them all."""
    told = tuple(drillings)
    for drilling in told:
        mark = Span("✓", Tone.GOOD) if drilling.is_proof else Span("✗", Tone.BAD)
        count = f"  {drilling.caught} of {len(drilling.proofs)} sabotages caught"
        yield line(mark, " ", Span(drilling.check, Tone.STRONG), count)
        for proof in drilling.proofs:
            if not proof.caught:
                text = f"missed: {proof.sabotage}: expected {proof.expect.value}, saw {proof.got.value}"
                yield line(Span(text, Tone.BAD), indent=_INDENT)
        if drilling.unread:
            yield line(Span(f"moved by no sabotage: {', '.join(drilling.unread)}", Tone.FAINT), indent=_INDENT)
        if drilling.refused:
            yield line(Span(f"not on this run: {drilling.refused}", Tone.FAINT), indent=_INDENT)
    proved = sum(drilling.is_proof for drilling in told)
    caught, total = sum(one.caught for one in told), sum(len(one.proofs) for one in told)
    yield line()
    yield line(f"{proved} of {len(told)} proved able to fail: {caught} of {total} sabotages caught.")


_MARKS = {"PROVED": Span("✓", Tone.GOOD), "INERT": Span("✗", Tone.BAD)}


def gate_lines(proved: Iterable[Instrument]) -> Iterator[Line]:
    """Yield a line for each gate of the project's own: the word, how it is known, and how long it took."""
    for one in proved:
        mark = _MARKS.get(one.word, Span("?", Tone.DOUBT))
        took = Span(f"  {one.seconds:.1f} s", Tone.FAINT)
        yield line(mark, " ", Span(one.name, Tone.STRONG), f"  {one.word}", took)
        yield line(Span(one.says, Tone.FAINT), indent=_INDENT)


def gate_document(proved: Iterable[Instrument]) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "gates": [
            {"gate": one.name, "word": one.word, "why": one.says, "seconds": one.seconds, "on": one.on}
            for one in proved
        ]
    }


def document(drillings: Iterable[Drilling]) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "drills": [
            {
                "check": drilling.check,
                "caught": drilling.caught,
                "total": len(drilling.proofs),
                "proofs": [
                    {"sabotage": proof.sabotage, "expect": proof.expect.value, "got": proof.got.value}
                    for proof in drilling.proofs
                ],
                "unread": list(drilling.unread),
                "refused": drilling.refused,
            }
            for drilling in drillings
        ]
    }
