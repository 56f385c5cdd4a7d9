"""The names of dicts along one path through a script, and what remains where paths meet.

A name that one path adds stays: it reaches the call on that path. A name that one path takes away goes: on another
it might have been there for a reason that was not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from affidavit.lint.scripts.value import Constant, Entry, Items, Names, Ref, Value

_NONE = Constant(None)


@dataclass(frozen=True, slots=True)
class Moment:
    """The variables of one scope and all dicts, at one point of one path."""

    names: dict[str, Value]
    heap: dict[int, Names]


class Heap:
    """Dicts by number. What is stored is never changed in place, so a moment is two shallow copies."""

    def __init__(self) -> None:
        self.dicts: dict[int, Names] = {}
        self._settled: dict[int, Names] = {}
        self._copies: dict[int, tuple[int, ...]] = {}
        self._next = 0
        self._more: set[int] = set()
        self.conditions: list[int] = []
        self._last = 0

    def new(self, names: Names, of: tuple[int, ...] = ()) -> Ref:
        """Return a new dict; ``of`` are those it might really be."""
        self._next += 1
        self.dicts[self._next] = names
        if of:
            self._copies[self._next] = of
        return Ref(self._next)

    def read(self, ref: Ref) -> Names:
        """Return the names that are surely there."""
        found = self.dicts.get(ref.number)
        return self._settled.get(ref.number, {}) if found is None else found

    def open(self, ref: Ref) -> None:
        """Note that a dict may hold more names than are known, on this path or another."""
        self._more.add(ref.number)

    def is_open(self, ref: Ref) -> bool:
        """Whether a dict may hold more names than are known."""
        return ref.number in self._more

    def condition(self) -> None:
        """Go on under one more condition."""
        self._last += 1
        self.conditions.append(self._last)

    def is_doubtful(self, entry: Entry) -> bool:
        """Whether a name that only some paths brought is looked at under a later condition.

        ``if lora: kw = {...}`` and then ``if oft: Other(**kw)``: the second test may well exclude the first.
        """
        return entry.since > 0 and bool(self.conditions) and self.conditions[-1] > entry.since

    def _partly(self, entry: Entry) -> Entry:
        return entry if entry.since else replace(entry, since=self._last or 1)

    def settle(self) -> None:
        """Keep the dicts of a module that was walked to its end, whatever path asked for it."""
        self._settled.update(self.dicts)
        self.dicts = {}

    def add(self, ref: Ref, entries: Sequence[Entry]) -> None:
        """Add names. One that is there without a guard stays without."""
        names = dict(self.read(ref))
        for entry in entries:
            old = names.get(entry.name)
            names[entry.name] = replace(entry, guard="") if old is not None and not old.guard else entry
        self.dicts[ref.number] = names
        self._more.update(self._copies.get(ref.number, ()))
        if ref.number in self._settled:
            self.open(ref)  # another function may look at it before and after

    def remove(self, ref: Ref, name: str | None) -> None:
        """Take a name away, all of them for None: from this dict and from those it might be."""
        self.open(ref)
        names = self.read(ref)
        self.dicts[ref.number] = {} if name is None else {key: one for key, one in names.items() if key != name}
        for other in self._copies.get(ref.number, ()):
            self.remove(Ref(other), name)

    def lose(self, value: Value) -> None:
        """Forget what somebody else may have changed."""
        if isinstance(value, Ref):
            for entry in self.read(value).values():
                self.lose(entry.value)
            self.remove(value, None)
        elif isinstance(value, Items):
            for one in value.items:
                self.lose(one)

    def merge(self, base: Moment, ends: Sequence[Moment]) -> None:
        """Set the dicts to what holds where these ends of paths meet."""
        if len(ends) == 1:
            self.dicts = dict(ends[0].heap)
            return
        met: dict[int, Names] = {}
        for end in ends:
            for number, names in end.heap.items():
                if number not in met:
                    met[number] = names
                elif met[number] is not names:
                    before = base.heap.get(number, self._settled.get(number, {}))
                    met[number] = self._together(before, met[number], names)
        for number in met:  # a path that does not have it left it as it was
            if number in self._settled and any(number not in end.heap for end in ends):
                met[number] = self._together(self._settled[number], met[number], self._settled[number])
        self.dicts = met

    def _together(self, base: Names, one: Names, other: Names) -> Names:
        """Return the names of one dict after two paths: added on either, taken away on neither."""
        return {
            key: entry if key in one and key in other else self._partly(entry)
            for key, entry in {**one, **other}.items()
            if (key in one and key in other) or key not in base
        }

    def join(self, one: Value, other: Value, guard: str) -> Value | None:
        """Return what is certain of a variable that is one or the other; None where nothing is.

        ``guard`` says that the paths part by what is installed: what only one of them has is then under it.
        """
        if one is other or one == other:
            return one
        if other == _NONE:
            return one
        if one == _NONE:
            return other
        if not (isinstance(one, Ref) and isinstance(other, Ref)):
            return None
        first, second = self.read(one), self.read(other)
        names = {**first, **second}
        for key, entry in names.items():
            if key not in first or key not in second:
                names[key] = replace(self._partly(entry), guard=entry.guard or guard)
        joined = self.new(names, (one.number, other.number))
        if self.is_open(one) or self.is_open(other):
            self.open(joined)
        return joined


def constant(value: Value) -> str | None:
    """Return the text that a value is, None where it is none."""
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None
