"""Tests that look like tests: no assertion, one that never ran, one that is swallowed, a skip that says nothing.

It would rather miss one than accuse one. A call is taken for an assertion where its name sounds like one, or where
any first-party function of that name asserts, at any depth; names are compared, not objects.

Source: silent-failure-corpus L6-06 (50 tests that could not fail), L6-07 (five shapes of vacuity).
Blind to: an assertion that is always true; that is what a guard's disarms are for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_SOUNDS = ("assert", "expect", "verify", "check", "should", "must", "refute", "ensure", "validate")
_ASSERTS = frozenset({"raises", "warns", "deprecated_call", "fail", "fnmatch_lines", "skip", "xfail", "importorskip"})
_ASSERTS_TOO = frozenset({"no_fnmatch_line", "no_re_match_line", "re_match_lines", "allclose", "compare", "exit"})
_BROAD = frozenset({"Exception", "BaseException", "AssertionError"})
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Hollow:
    """One test, the place in it, and what is hollow there."""

    test: str
    at: str
    why: str


@dataclass(frozen=True)
class Watched:
    """The lines of one test of which it matters whether they ran: from-to ranges.

    Args:
        every: all assertions of the test.
        asserts: those in a branch or a loop.
        returns: those before the first assertion.
    """

    every: tuple[tuple[int, int], ...]
    asserts: tuple[tuple[int, int], ...]
    returns: tuple[tuple[int, int], ...]


class Reader:
    """Reads test functions, and, where one asserts nothing itself, the first-party code that it could call.

    Args:
        root: the folder below which code is first-party.
        beside: folders with tests; a helper in them that raises is taken to assert.
    """

    def __init__(self, root: Path, beside: Iterable[Path] = ()) -> None:
        self.root = root
        self.beside = frozenset(beside)
        self._files: dict[str, dict[int, Definition]] = {}

    def definition(self, file: str, first: int) -> Definition | None:
        """Return the function that begins at a line of a file, its decorators included."""
        if file not in self._files:
            try:
                tree = ast.parse(Path(file).read_bytes())
            except (OSError, SyntaxError, ValueError):
                tree = ast.Module(body=[], type_ignores=[])
            self._files[file] = {_first(node): node for node in ast.walk(tree) if isinstance(node, Definition)}
        return self._files[file].get(first)

    def asserts(self, node: Definition, fixtures: Iterable[str] = ()) -> bool:
        """Return whether a test, or anything first-party that it may call, can fail by an assertion."""
        if _asserts(node, raises=True):
            return True
        return bool((_called(node) | set(fixtures)) & self._asserting)

    @cached_property
    def _asserting(self) -> frozenset[str]:
        """The names of first-party functions that assert, themselves or through others."""
        direct: set[str] = set()
        calls: dict[str, set[str]] = {}
        for file in self._first_party():
            try:
                tree = ast.parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError):
                continue
            for name, node in _named(tree):
                if _asserts(node, raises=file.parent in self.beside):
                    direct.add(name)
                calls.setdefault(name, set()).update(_called(node))
        while grown := {name for name, called in calls.items() if name not in direct and called & direct}:
            direct |= grown
        return frozenset(direct)

    def _first_party(self) -> Iterator[Path]:
        for module in list(sys.modules.values()):
            name = getattr(module, "__file__", None)
            if isinstance(name, str) and name.endswith(".py") and "site-packages" not in name:
                file = Path(name)
                if file.is_relative_to(self.root):
                    yield file


def watched(node: Definition) -> Watched:
    """Return the assertions that may never run, and the returns before the first one."""
    asserts = [one for one in _own(node) if isinstance(one, ast.Assert)]
    nested = [one for one in _nested(node) if isinstance(one, ast.Assert)]
    first = min((one.lineno for one in asserts), default=0)
    returns = [one for one in _nested(node) if isinstance(one, ast.Return) and one.lineno < first]
    return Watched(tuple(map(_lines, asserts)), tuple(map(_lines, nested)), tuple(map(_lines, returns)))


def swallowed(node: Definition) -> Iterator[int]:
    """Yield the lines of handlers that let an assertion in their ``try`` fail without a word."""
    for one in _own(node):
        if isinstance(one, ast.Try) and any(isinstance(part, ast.Assert) for part in _below(one.body)):
            yield from (handler.lineno for handler in one.handlers if _is_silent(handler))


def _is_silent(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes an AssertionError and does nothing with it."""
    kinds = ast.walk(handler.type) if handler.type is not None else ()
    is_broad = handler.type is None or any(isinstance(part, ast.Name) and part.id in _BROAD for part in kinds)
    says = (ast.Raise, ast.Assert, ast.Call)
    return is_broad and not any(isinstance(part, says) for one in handler.body for part in ast.walk(one))


def _first(node: Definition) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _lines(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _named(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Yield every function by its name; what a class does on its way in and out also by the name of the class."""
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, Definition) and one.name in ("__init__", "__post_init__", "__exit__", "__call__"):
                    yield node.name, one


def _asserts(node: Definition, *, raises: bool) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Assert) or (raises and isinstance(one, ast.Raise)):
            return True
        name = _last(one.func) if isinstance(one, ast.Call) else ""
        if name in _ASSERTS or name in _ASSERTS_TOO or any(sound in name.lower() for sound in _SOUNDS):
            return True
    return False


def _called(node: Definition) -> set[str]:
    """Return the names that a function mentions: what is called, handed on, or used as a context."""
    return {name for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute) and (name := _last(one))}


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _own(node: Definition) -> Iterator[ast.stmt]:
    """Yield the statements of a function, those of functions inside of it left out."""
    yield from _below(node.body)


def _below(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for one in body:
        yield one
        if not isinstance(one, Definition | ast.ClassDef):
            for _, inside in ast.iter_fields(one):
                for part in inside if isinstance(inside, list) else ():
                    if isinstance(part, ast.stmt):
                        yield from _below([part])
                    elif isinstance(part, ast.ExceptHandler | ast.match_case):
                        yield from _below(part.body)


def _nested(node: Definition) -> Iterator[ast.stmt]:
    """Yield the statements that a run of the function may pass by: in branches, loops, handlers and cases."""

    def inside(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        for one in body:
            if isinstance(one, ast.If | ast.For | ast.AsyncFor | ast.While | ast.Match):
                yield from (part for part in _below([one]) if part is not one)
            elif isinstance(one, ast.Try | ast.TryStar):
                yield from inside([*one.body, *one.finalbody])
                yield from _below([*(part for handler in one.handlers for part in handler.body), *one.orelse])
            elif isinstance(one, ast.With | ast.AsyncWith):
                yield from inside(one.body)

    yield from inside(node.body)
