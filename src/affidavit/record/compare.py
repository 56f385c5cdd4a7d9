"""The one comparator: lock, panel, rehearsal, parent, tracker and ``diff`` all ask it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from affidavit.fact.observation import Known, State
from affidavit.fact.term import Category
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.record.record import Kind, Record


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Two records say different things of one term; ``where`` names the parts, in reading order."""

    name: str
    category: Category
    left: str
    right: str
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" [{'; '.join(self.where)}]" if self.where else ""
        return f"{self.name}: {self.left} against {self.right}{where}"


def differ(left: Record, right: Record, names: Iterable[str], *, episode: int = -1) -> tuple[Difference, ...]:
    """Return how two records differ in the named terms, one entry a term.

    A term that one side does not know differs from any known value: what was not seen is never equal. A foreign file
    names no modules by their paths, so what it says of all of them is held against every one.

    Blind to: terms that are not named, and episodes other than the one asked for.
    """
    found: list[Difference] = []
    for name in names:
        ours = _states(left, name, episode)
        theirs = _states(right, name, episode)
        if ours != theirs and not (Kind.FOREIGN in (left.kind, right.kind) and _kinds(ours) == _kinds(theirs)):
            category = left.vocabulary[name].category
            where = parts(ours[0], theirs[0]) if len(ours) == len(theirs) == 1 else ()
            difference = Difference(name=name, category=category, left=_say(ours), right=_say(theirs), where=where)
            found.append(difference)
    return tuple(found)


def _states(record: Record, name: str, episode: int) -> tuple[Value | str, ...]:
    """Return the distinct things said of a term; an unknown is text, so it equals no value of another kind."""
    said: list[Value | str] = []
    for fact in record.find(name, episode=episode):
        value = _said(fact.state)
        if value not in said:
            said.append(value)
    return tuple(said)


def _kinds(values: tuple[Value | str, ...]) -> tuple[object, ...]:
    return tuple(value.kinds if isinstance(value, Layers) else value for value in values)


def _said(state: State) -> Value | str:
    return state.value if isinstance(state, Known) else f"unknown ({state.cause.value})"


def _say(values: tuple[Value | str, ...]) -> str:
    return " and ".join(display(value) for value in values) or "nothing recorded"


def display(value: Value | str) -> str:
    """Return a value as a reader sees it."""
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:,}" if type(value) is int else str(value)


def parts(left: Value | str, right: Value | str) -> tuple[str, ...]:
    """Return the parts in which two values of one structured type differ."""
    if isinstance(left, Tally) and isinstance(right, Tally):
        kinds = sorted({*dict(left.counts), *dict(right.counts)})
        return tuple(f"{kind} {left[kind]:,} → {right[kind]:,}" for kind in kinds if left[kind] != right[kind])
    if isinstance(left, Layers) and isinstance(right, Layers):
        ours, theirs = left.expand(), right.expand()
        changed = {path: ours.get(path, "absent") for path in {*ours, *theirs} if ours.get(path) != theirs.get(path)}
        arrows = {path: f"{was} → {theirs.get(path, 'absent')}" for path, was in changed.items()}
        return tuple(f"{run} {arrow}" for run, arrow in Layers.of(arrows).runs)
    if isinstance(left, Table) and isinstance(right, Table):
        return tuple(
            f"row {row!r}"
            for row in dict.fromkeys((*left.rows, *right.rows))
            if (row in left.rows) != (row in right.rows)
        )
    if isinstance(left, tuple) and isinstance(right, tuple):
        return tuple(
            f"{sign}{item}" for sign, a, b in (("-", left, right), ("+", right, left)) for item in a if item not in b
        )
    return ()
