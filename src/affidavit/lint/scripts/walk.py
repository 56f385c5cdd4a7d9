"""One pass through the project: what is known at this point, and what was found so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.request import Given
from affidavit.lint.scripts import guard
from affidavit.lint.scripts.found import Found
from affidavit.lint.scripts.project import Project
from affidavit.lint.scripts.reading import Late
from affidavit.lint.scripts.source import Source
from affidavit.lint.scripts.state import Heap, Moment
from affidavit.lint.scripts.torch import is_about_training
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Entry,
    Frame,
    Function,
    Installed,
    Instance,
    Items,
    Lazy,
    Leftover,
    Namespace,
    Object,
    Parsing,
    Partial,
    Ref,
    Value,
    given,
)

_NESTED = 4


@dataclass(frozen=True, slots=True)
class Returned:
    """A value that a function hands back, the state it does it in, and the guard it stands under."""

    value: Value
    moment: Moment
    guard: str


class _Guarded:
    """A guard while its block is walked. Classes, since these two are entered for every block of every function."""

    __slots__ = ("guard", "walk")

    def __init__(self, walk: Walk, guard: str) -> None:
        self.walk, self.guard = walk, guard

    def __enter__(self) -> None:
        self.walk.guards.append(self.guard)

    def __exit__(self, *error: object) -> None:
        self.walk.guards.pop()


class _Scope:
    """A scope while it is walked."""

    __slots__ = ("frame", "outer", "walk")

    def __init__(self, walk: Walk, frame: Frame) -> None:
        self.walk, self.frame, self.outer = walk, frame, walk.frame

    def __enter__(self) -> None:
        self.walk.frame = self.frame

    def __exit__(self, *error: object) -> None:
        self.walk.frame = self.outer


@dataclass
class Walk:
    """Where the pass stands.

    Args:
        evaluate, execute: what an expression is, what a block of statements does; whether it can be left at its end.
        enter: the frame of a module, walked when it is first asked for.
        shields: functions that somebody calls inside ``except TypeError``.
        calls: the calls that are being followed, innermost last, as a person would name them.
    """

    project: Project
    watched: frozenset[str]
    frame: Frame
    evaluate: Callable[[Walk, ast.expr], Value]
    execute: Callable[[Walk, list[ast.stmt]], bool]
    enter: Callable[[Walk, Source], Frame | None]
    shields: frozenset[str] = frozenset()
    heap: Heap = field(default_factory=Heap)
    found: Found = field(default_factory=Found)
    guards: list[str] = field(default_factory=list)
    asked: list[frozenset[str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    inside: list[ast.AST] = field(default_factory=list)
    returns: list[Returned] = field(default_factory=list)
    pending: list[Function] = field(default_factory=list)
    budget: int = 0
    line: int = 0

    @property
    def path(self) -> Path:
        """The file that is walked."""
        return self.frame.source.path

    def speaks(self, test: ast.expr) -> str:
        """Return how a test asks what is installed, "" where it does not."""
        spoken = self.frame.source.spoken
        if id(test) not in spoken:
            spoken[id(test)] = guard.speaks(test, self._knows)
        return spoken[id(test)]

    def _knows(self, name: str) -> bool:
        source = self.frame.source
        if name in source.probes:
            return True
        value = source.frame.names.get(name) if name.isupper() and source.frame is not None else None
        return isinstance(value, Lazy) and value.name in value.source.probes

    @property
    def guard(self) -> str:
        """Why a name would do no harm here, "" where it would."""
        for reason in self.guards:
            if reason:
                return reason
        return self.frame.guard

    def guard_of(self, name: str) -> str:
        """Why one name would do no harm here."""
        if any(name in names for names in self.asked):
            return self.guard or f'behind a test of "{name}"'
        return self.guard

    def guarded(self, guard: str) -> _Guarded:
        """Walk what stands under a guard; "" is none."""
        return _Guarded(self, guard)

    def scope(self, frame: Frame) -> _Scope:
        """Walk another scope."""
        return _Scope(self, frame)

    def value(self, node: ast.expr) -> Value:
        """Return what an expression is."""
        return self.evaluate(self, node)

    def moment(self) -> Moment:
        """Return the state of this path."""
        return Moment(dict(self.frame.names), dict(self.heap.dicts))

    def go_back(self, moment: Moment) -> None:
        """Start another path from where one began."""
        self.frame.names = dict(moment.names)
        self.heap.dicts = dict(moment.heap)

    def meet(self, base: Moment, ends: list[Moment], guard: str) -> None:
        """Go on from where paths meet; ``guard`` says that they part by what is installed."""
        self.heap.merge(base, ends)
        names = dict(ends[0].names)
        for end in ends[1:]:
            for name, value in end.names.items():
                old = names.get(name)
                if old is not value:
                    names[name] = value if old is None else self.join(old, value, guard)
        self.frame.names = names

    def join(self, one: Value, other: Value, guard: str) -> Value:
        """Return what is certain of a value that is one or the other."""
        joined = self.heap.join(one, other, guard)
        if joined is None:
            self.lose(one)
            self.lose(other)
            return UNKNOWN
        return joined

    def lose(self, value: Value) -> None:
        """Let a value go where it is not followed: its dicts may be changed, its fields may be read."""
        if value is UNKNOWN:
            return
        self.hand_over(value)
        self.heap.lose(value)

    def hand_over(self, value: Value) -> None:
        """Let a value go to code that reads it and changes no dict."""
        if value is UNKNOWN:
            return
        if isinstance(value, Namespace | Object) and value.build is not None:
            value.build.whole = True
        elif isinstance(value, Parsing):
            value.build.open("handed to a function that was not followed")
            value.build.whole = True
        elif isinstance(value, Leftover):
            value.build.uses_leftover = True
        elif isinstance(value, Items):
            for one in value.items:
                self.hand_over(one)
        elif isinstance(value, Ref):
            for entry in self.heap.read(value).values():
                self.hand_over(entry.value)
        elif isinstance(value, Partial):
            self.hand_over(value.function)

    def emit(
        self, callee: str, node: ast.expr, entries: Mapping[str, Entry], *, is_open: bool = False, positional: int = 0
    ) -> None:
        """Note the names that surely reach a watched callable, and a call without any."""
        if not self.watches(callee):
            return
        place = (callee, self.path, node.lineno, node.col_offset)
        sure = [entry for entry in entries.values() if not self.heap.is_doubtful(entry)]
        if not sure and place not in self.found.bare and is_about_training(callee):
            self.found.bare[place] = (self.guard, self.calls[-1] if self.calls else "")
        if is_open or len(sure) < len(entries):
            self.found.opened.add(place)
        if positional > self.found.positional.get(place, 0):
            self.found.positional[place] = positional
        for entry in sure:
            guard = self.guard or entry.guard
            key = (callee, self.path, node.lineno, node.col_offset, guard)
            one = self._given(entry, _NESTED)
            if self.calls and key not in self.found.requests:
                self.found.via[key] = self.calls[-1]
            elif not self.calls:
                self.found.via.pop(key, None)
            self.found.requests.setdefault(key, {})[(one.name, one.path, one.line)] = one

    def _given(self, entry: Entry, depth: int) -> Given:
        """Return a name with those of the dict that it is given."""
        if not isinstance(entry.value, Ref) or not depth:
            return given(entry, ())
        entries = self.heap.read(entry.value).values()
        inside = tuple(self._given(one, depth - 1) for one in entries if self._is_sure(one))
        return given(entry, inside, is_open=self.heap.is_open(entry.value) or len(inside) < len(entries))

    def _is_sure(self, entry: Entry) -> bool:
        return not entry.guard and not self.heap.is_doubtful(entry)

    def set_late(self, target: Value, name: str, line: int) -> None:
        """Note an attribute that is set on a finished object of an installed class."""
        if isinstance(target, Installed):
            self.found.patched.add(f"{target.dotted}.{name}")
        elif isinstance(target, Instance) and target.is_exact and not self.guard and self.watches(target.of):
            self.found.late[Late(callee=target.of, name=name, path=self.path, line=line)] = None

    def watches(self, dotted: str) -> bool:
        """Whether a callable is of a watched package."""
        return dotted.partition(".")[0] in self.watched
