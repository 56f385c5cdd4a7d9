"""Facts as cells: a short text, and rows beneath it where a value has more than fits in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from affidavit.fact.observation import Cause, Known, State
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Layers, Series, Table, Tally, Value
from affidavit.record.compare import display
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record
from affidavit.report.absence import brief

LONGEST = 2_000
"""Characters of one text that a page shows; the record has it whole."""
_ROWS = 200
_LISTED = 6
"""More kinds or names than this stand in rows of their own."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A value: its text, and its rows under columns; ``more`` rows are not shown."""

    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    more: int = 0


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A fact of some ranks: what was asked, what is known or why it is not, and how.

    Args:
        was: what it was before a correction took it back; ``method`` and ``source`` are of that then.
    """

    term: str
    meaning: str
    where: str
    is_known: bool
    value: Shown
    why: str = ""
    method: str = ""
    source: str = ""
    asked: Shown | None = None
    asked_source: str = ""
    was: Shown | None = None


def cells(record: Record, facts: Iterable[Fact]) -> Iterator[Cell]:
    """Yield facts as they stand in a table, the meaning of a term once."""
    before = ""
    for fact in facts:
        found = cell(record, fact)
        yield replace(found, meaning="") if fact.name == before else found
        before = fact.name


def cell(record: Record, fact: Fact) -> Cell:
    """Return a fact as it stands in a table."""
    state, request = fact.state, fact.request
    seen = state if fact.was is None else fact.was
    return Cell(
        term=fact.name,
        meaning=record.vocabulary[fact.name].meaning,
        where=where(record, fact),
        is_known=isinstance(state, Known),
        value=_seen(state),
        why=_why(state),
        method=seen.method.name.lower() if isinstance(seen, Known) else "",
        source=cut(seen.source) if isinstance(seen, Known) else "",
        asked=None if request is None else shown(request.value),
        asked_source="" if request is None else cut(request.source),
        was=None if fact.was is None else _seen(fact.was),
    )


def _seen(state: State) -> Shown:
    return shown(state.value) if isinstance(state, Known) else Shown(text=absent(state))


def _why(state: State) -> str:
    """Return why a fact is unknown, where its own text does not say that already."""
    if isinstance(state, Known) or state.cause is Cause.FALLS or state.why == state.cause.value:
        return ""
    return cut(state.why)


def absent(state: State) -> str:
    """Return how a page writes what is not known; a fact that fell says since when and why."""
    if isinstance(state, Known):
        return ""
    return brief(state.why) if state.cause is Cause.FALLS else f"unknown: {state.cause.value}"


def where(record: Record, fact: Fact) -> str:
    """Return of which ranks and which training a fact speaks, where there is more than one of either."""
    parts = [f"rank {written(fact.ranks)}" if fact.ranks and record.world > 1 else ""]
    parts.append(f"training {fact.episode + 1}" if fact.ranks and record.episodes > 1 else "")
    return ", ".join(part for part in parts if part)


def shown(value: Value) -> Shown:
    """Return a value as a reader sees it."""
    if isinstance(value, Table):
        return _rows(f"{len(value.rows):,} {'row' if len(value.rows) == 1 else 'rows'}", value.columns, value.rows)
    if isinstance(value, Layers) and value.runs:
        return _rows(", ".join(value.kinds), ("module", "value"), value.runs)
    if isinstance(value, Tally) and len(value.counts) > _LISTED:
        return _rows(f"{value.total:,} {value.of}", ("kind", value.of), value.counts)
    if isinstance(value, tuple) and len(value) > _LISTED:
        return _rows(f"{len(value):,} names", ("name",), tuple((name,) for name in value))
    if isinstance(value, Series):
        return _rows(str(value), ("step", value.unit), tuple(zip(value.x, value.y)))
    return Shown(text=cut(display(value)))


def asked_elsewhere(record: Record, fact: Fact) -> tuple[Value, str] | None:
    """Return what was asked for a fact under another term, with its source."""
    asked_by = record.vocabulary[fact.name].asked_by
    for asking in record.find(asked_by, episode=fact.episode) if asked_by else ():
        same_rank = not fact.ranks or set(fact.ranks) & set(asking.ranks)
        if same_rank and isinstance(asking.state, Known) and asking.state.value != UNSTATED:
            return asking.state.value, asking.state.source
    return None


def asking(found: Cell, value: Value, source: str) -> Cell:
    """Return the cell with what was asked for it under another term."""
    return replace(found, asked=shown(value), asked_source=cut(source))


def cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]} … and {len(text) - LONGEST:,} more characters"


def _rows(text: str, columns: Iterable[str], rows: tuple[tuple[object, ...], ...]) -> Shown:
    drawn = tuple(tuple(cut(_cell(part)) for part in row) for row in rows[:_ROWS])
    return Shown(text=text, columns=tuple(columns), rows=drawn, more=max(len(rows) - _ROWS, 0))


def _cell(part: object) -> str:
    return f"{part:,}" if type(part) is int else f"{part:.6g}" if isinstance(part, float) else str(part)
