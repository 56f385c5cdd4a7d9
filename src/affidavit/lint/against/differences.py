"""What another version does to the names that a project gives: gone, renamed, deprecated, or of another meaning."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from affidavit.lint.catalogue import Missing
from affidavit.lint.request import Request
from affidavit.lint.union import callees, with_nested
from affidavit.names import history
from affidavit.names.answer import nearest
from affidavit.names.signature import REQUIRED, Rest, Signature

_UNSET = 9
_NOTHING = ("no", "none")
KINDS = ("gone", "renamed", "deprecated", "default moved", "meaning")


class Finds(Protocol):
    """A catalogue, of what is installed, of another version, or of what was once read."""

    def find(self, callee: str) -> Signature | Missing: ...

    def package_of(self, module: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Row:
    """One name at one place that another version treats otherwise; ``kind`` is one of :data:`KINDS`.

    ``name`` of a moved default is a name that the call leaves out.
    """

    path: Path
    line: int
    callee: str
    name: str
    kind: str
    said: str

    @property
    def breaks(self) -> bool:
        """Say whether the call raises with the other version, or swallows what it heeded."""
        return self.kind in {"gone", "renamed"}


def differences(requests: Iterable[Request], installed: Finds, other: Finds) -> tuple[Row, ...]:
    """Return what another version breaks or changes for these requests, in the order in which they stand.

    A name counts as gone only where the installed version takes it and the other one refuses it, or read it and
    swallows it by now; what is wrong already is no difference.

    Source: the signatures of both versions, and :mod:`affidavit.names.history` for what no signature shows.
    Blind to: values; callables of which one of the two sides shows no text.
    """
    rows: list[Row] = []
    for request in with_nested(requests):
        for callee in callees(request):
            before, after = installed.find(callee), other.find(callee)
            if not isinstance(before, Signature):
                continue
            if isinstance(after, Missing):
                if after.is_proved:
                    rows.append(_row(request, request.line, callee, callee.rpartition(".")[2], "gone", after.why))
                continue
            rows += _names(request, callee, before, after)
            rows += _changed(request, callee, before, after, installed, other)
    return tuple(dict.fromkeys(rows))


def moved(requests: Iterable[Request], now: Finds, then: Finds) -> tuple[Row, ...]:
    """Return the defaults and meanings that moved under names these requests leave out, since an earlier version.

    Args:
        then: usually :meth:`affidavit.lint.catalogue.Catalogue.before`, which answers from the store.
    """
    rows: list[Row] = []
    find = functools.cache(then.find)
    for request in requests:
        for callee in callees(request):
            before = find(callee)
            after = now.find(callee) if isinstance(before, Signature) else None
            if isinstance(before, Signature) and isinstance(after, Signature):
                rows += _changed(request, callee, before, after, then, now)
    return tuple(dict.fromkeys(rows))


def _names(request: Request, callee: str, before: Signature, after: Signature) -> Iterator[Row]:
    for given in request.given:
        old = before.parameters.get(given.name)
        if old is None:
            continue
        new = after.parameters.get(given.name)
        place = replace(request, path=given.path)
        if new is None:
            told = history.said_of(after.callee, given.name)
            near = "" if told else nearest(given.name, set(after.parameters) - set(before.parameters))
            said = told or (f"{after.package} has {near}" if near else f"not taken by {after.package}")
            if after.rest is not Rest.CLOSED:
                said = f"{said}; swallowed without a word"
            kind = "renamed" if "; now " in told or near else "gone"
            yield _row(place, given.line, callee, given.name, kind, said)
        elif new.deprecated and new.deprecated != old.deprecated:
            yield _row(place, given.line, callee, given.name, "deprecated", new.deprecated)


def _changed(
    request: Request, callee: str, before: Signature, after: Signature, old: Finds, new: Finds
) -> Iterator[Row]:
    """What changes without a name being gone; a default whose meaning is told is not told twice."""
    meanings = list(_meanings(request, callee, after, old, new))
    told = {row.name for row in meanings}
    yield from (row for row in _defaults(request, callee, before, after, old, new) if row.name not in told)
    yield from meanings


def _defaults(
    request: Request, callee: str, before: Signature, after: Signature, old_side: Finds, new_side: Finds
) -> Iterator[Row]:
    if request.is_open:
        return  # what seems to be left out may be given
    given = {one.name for one in request.given}
    given |= {name for side in (before, after) for name in tuple(side.parameters)[: request.positional]}
    found: dict[str, tuple[str, str]] = {}
    for name, new in after.parameters.items():
        old = before.parameters.get(name)
        if old is None or name in given or REQUIRED in (old.default, new.default):
            continue
        if _is_told(old.default) and _is_told(new.default) and _differ(old.default, new.default):
            found[name] = (old.default, new.default)
    unset = [name for name, (_, new) in found.items() if new == "None"]
    for name, (was, now) in found.items():
        if name in unset and len(unset) > _UNSET:
            continue  # a class that learnt to say "not asked for": what is not asked for is decided elsewhere
        top = (after.parameters[name].owner or after.callee).partition(".")[0]
        first, second = old_side.package_of(top) or before.package, new_side.package_of(top) or after.package
        said = f"left to its default, which was {was} in {first} and is {now} in {second}"
        yield _row(request, request.line, callee, name, "default moved", said)


def _meanings(request: Request, callee: str, after: Signature, old: Finds, new: Finds) -> Iterator[Row]:
    """What the package of a callable, or one that it is built on, means otherwise by the same names."""
    given = {one.name: one.value for one in request.given}
    lines = {one.name: one.line for one in request.given}
    placed = tuple(after.parameters)[: request.positional]
    owners = {one.owner.partition(".")[0] for one in after.parameters.values() if "." in one.owner}
    for top in sorted({callee.partition(".")[0], *owners}):
        package, _, was = old.package_of(top).partition(" ")
        _, _, now = new.package_of(top).partition(" ")
        for row in history.changes(package, was, now) if was and now else ():
            is_hidden = row.name not in given and (request.is_open or row.name in placed)
            if not is_hidden and (row.callee.has(callee) or row.callee.has(after.callee)) and row.is_met(given):
                yield _row(request, lines.get(row.name, request.line), callee, row.name, "meaning", row.said())


def _is_told(default: str) -> bool:
    """Say whether a default is a literal, so that two of them compare."""
    try:
        ast.literal_eval(default)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _differ(one: str, other: str) -> bool:
    """Say whether two defaults mean something else; nothing, False and an empty text mean the same."""
    values = ast.literal_eval(one), ast.literal_eval(other)
    if not any(value and value not in _NOTHING for value in values):
        return False
    return (type(values[0]), values[0]) != (type(values[1]), values[1])


def _row(request: Request, line: int, callee: str, name: str, kind: str, said: str) -> Row:
    return Row(path=request.path, line=line, callee=callee, name=name, kind=kind, said=said)
