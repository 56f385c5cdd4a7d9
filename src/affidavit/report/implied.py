"""What nobody asked for: each setting that no request named, what it came to, and who decided it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.term import Term
from affidavit.record.owner import ASKED, UNSEEN, is_requested, owner
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record
from affidavit.record.sentence import sentence, usual
from affidavit.report.terminal import Line, Span, Tone, line


@dataclass(frozen=True, kw_only=True)
class Implied:
    """A known fact that no request named, in English, and who decided it as far as anybody saw."""

    fact: Fact
    said: str
    owner: str
    is_usual: bool

    @property
    def follows_request(self) -> bool:
        """Whether somebody asked for something of which this is the result."""
        return self.owner.startswith(ASKED)


def implied(record: Record) -> tuple[Implied, ...]:
    """Return every setting that the record knows and that nobody requested: what ``accept`` would lock.

    Blind to: a default that was typed into a file which a parser read; it looks like one that nobody typed.
    """
    found = []
    for fact in record.facts:
        term = record.vocabulary[fact.name]
        if isinstance(fact.state, Known) and term.lock and not is_requested(record, fact.name):
            found.append(_implied(record, fact, term, fact.state))
    return tuple(found)


def _implied(record: Record, fact: Fact, term: Term, known: Known) -> Implied:
    return Implied(
        fact=fact,
        said=sentence(term, known.value),
        owner=owner(record, fact),
        is_usual=bool(usual(term, known.value)),
    )


def lines(record: Record) -> Iterator[Line]:
    """Yield one paragraph a setting, its sentence and who decided it; what is nothing special stands in one."""
    found = implied(record)
    special = [one for one in found if not (one.is_usual or one.follows_request)]
    results = [one for one in found if one.follows_request and not one.is_usual]
    yield line()
    if not found:
        yield line("Nobody left anything open that this record knows.")
        return
    noun = "setting" if len(special) == 1 else "settings"
    yield line(Span(f"{len(special)} {noun} that nobody asked for", Tone.STRONG))
    yield from (_line(record, one) for one in special)
    if results:
        yield line(Span("what was asked for came to", Tone.STRONG))
        yield from (_line(record, one) for one in results)
    yield from unusual(f"{one.said}{_where(record, one.fact)}" for one in found if one.is_usual)
    yield line()
    yield line("accept them: ", Span(f"affidavit accept {record.subject}", Tone.ACTION))


def _line(record: Record, one: Implied) -> Line:
    by = "" if one.owner in UNSEEN else f"  {one.owner}"
    return line(f"{one.said}{_where(record, one.fact)}", Span(by, Tone.FAINT), indent=2)


def unusual(words: Iterable[str]) -> Iterator[Line]:
    """Yield one paragraph of all that says nothing special."""
    said = "; ".join(words)
    if said:
        yield line(Span(f"nothing unusual: {said}", Tone.FAINT), indent=2)


def _where(record: Record, fact: Fact) -> str:
    where = f", rank {written(fact.ranks)}" if fact.ranks and record.world > 1 else ""
    return f"{where}, training {fact.episode + 1}" if fact.ranks and record.episodes > 1 else where
