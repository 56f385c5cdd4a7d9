"""Every fact of a record as a list: what it is, what was asked, and how each is known."""

from __future__ import annotations

from collections.abc import Iterator

from affidavit.fact.observation import Known, State, Unknown
from affidavit.fact.values import Table, Value
from affidavit.record.compare import display
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record
from affidavit.report.absence import brief
from affidavit.report.terminal import Line, Span, Tone, line

_ROWS_SHOWN = 12


def lines(record: Record) -> Iterator[Line]:
    """Yield a paragraph for each fact, in the order in which records hold them."""
    yield line()
    for fact in record.facts:
        where = f"  rank {written(fact.ranks)}" if fact.ranks and record.world > 1 else ""
        episode = f"  training {fact.episode + 1}" if fact.ranks and record.episodes > 1 else ""
        yield line(Span(fact.name, Tone.STRONG), Span(f"{where}{episode}", Tone.FAINT))
        yield from _said(fact)


def _said(fact: Fact) -> Iterator[Line]:
    if fact.request is not None:
        yield line(display(fact.request.value), Span(f"  {fact.request.source}", Tone.FAINT), head="  asked", indent=10)
    if isinstance(fact.state, Known):
        how = f"  {fact.state.method.name.lower()}: {fact.state.source}"
        yield line(display(fact.state.value), Span(how, Tone.FAINT), head="  is", indent=10)
        yield from table(fact.state.value)
    elif isinstance(fact.state, Unknown):
        why = f"  {fact.state.why}" if fact.state.why else ""
        if fact.was is None:
            yield line(Span(f"unknown: {fact.state.cause.value}{why}", Tone.DOUBT), indent=10)
        else:
            yield line(Span(brief(fact.state.why), Tone.BAD), indent=10)
            yield from _was(fact.was)


def _was(state: State) -> Iterator[Line]:
    """Yield what a correction took back: it is shown, and used by nobody."""
    if isinstance(state, Known):
        how = f"  {state.method.name.lower()}: {state.source}"
        yield line(display(state.value), Span(how, Tone.FAINT), head="  was", indent=10)
        yield from table(state.value)
    elif isinstance(state, Unknown):
        yield line(f"unknown: {state.cause.value}", head="  was", indent=10)


def table(value: Value) -> Iterator[Line]:
    """Yield the first rows of a table, and how many more there are; nothing for a value of another type."""
    if isinstance(value, Table):
        for row in value.rows[:_ROWS_SHOWN]:
            yield line(Span(", ".join(map(str, row)), Tone.FAINT), indent=12)
        if len(value.rows) > _ROWS_SHOWN:
            yield line(Span(f"and {len(value.rows) - _ROWS_SHOWN} more", Tone.FAINT), indent=12)
