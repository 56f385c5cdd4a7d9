"""What nobody asked for: each setting that no request named, what it came to, and who decided it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.term import UNSTATED, Method
from affidavit.fact.values import Table
from affidavit.record.compare import display
from affidavit.record.lock import is_requested
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record
from affidavit.report.facts import table
from affidavit.report.terminal import Line, Span, Tone, line

OWNERS = "run.owners"
RAN = "what ran decided it"
OPEN = "the script's own code or a default in it"


@dataclass(frozen=True, kw_only=True)
class Implied:
    """A known fact that no request named, and who decided it as far as anybody saw."""

    fact: Fact
    owner: str


def implied(record: Record) -> tuple[Implied, ...]:
    """Return every setting that the record knows and that nobody requested: what ``accept`` would lock.

    Blind to: a default that was typed into a file which a parser read; it looks like one that nobody typed.
    """
    found = []
    for fact in record.facts:
        if isinstance(fact.state, Known) and record.vocabulary[fact.name].lock and not is_requested(record, fact.name):
            found.append(Implied(fact=fact, owner=_owner(record, fact)))
    return tuple(found)


def lines(record: Record) -> Iterator[Line]:
    """Yield one paragraph a setting: its value, and who decided it."""
    found = implied(record)
    yield line()
    if not found:
        yield line("Nobody left anything open that this record knows.")
        return
    yield line(Span(f"{len(found)} settings that nobody asked for", Tone.STRONG))
    for one in found:
        assert isinstance(one.fact.state, Known)
        where = f"  rank {written(one.fact.ranks)}" if one.fact.ranks and record.world > 1 else ""
        episode = f"  training {one.fact.episode + 1}" if one.fact.ranks and record.episodes > 1 else ""
        yield line(Span(one.fact.name, Tone.STRONG), Span(f"{where}{episode}", Tone.FAINT))
        yield line(display(one.fact.state.value), Span(f"  {one.owner}", Tone.FAINT), head="  is", indent=6)
        yield from table(one.fact.state.value)
    yield line()
    yield line("accept them: ", Span(f"affidavit accept {record.subject}", Tone.ACTION))


def _owner(record: Record, fact: Fact) -> str:
    for said in record.find(OWNERS, episode=fact.episode):
        same_rank = not fact.ranks or set(fact.ranks) & set(said.ranks)
        if same_rank and isinstance(said.state, Known) and isinstance(said.state.value, Table):
            for row in said.state.value.records():
                if row["fact"] == fact.name:
                    return str(row["owner"])
    term = record.vocabulary[fact.name]
    asked_by = record.find(term.asked_by, episode=fact.episode) if term.asked_by else ()
    unstated = (one.state.source for one in asked_by if isinstance(one.state, Known) and one.state.value == UNSTATED)
    return next(unstated, RAN if term.least is Method.EXECUTED else OPEN)
