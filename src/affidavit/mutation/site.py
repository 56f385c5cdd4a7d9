"""One place in a syntax tree where something else may stand for a while: an expression, an item of a list, a body."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Site:
    """One place in a syntax tree, and what may stand there instead; ``put`` puts it there, ``back`` takes it away."""

    operator: str
    line: int
    column: int
    was: ast.AST
    becomes: ast.AST
    put: Callable[[], None]
    back: Callable[[], None]


def condition(parent: ast.AST, field: str) -> Iterator[Site]:
    if not isinstance(getattr(parent, field), ast.Constant):
        yield in_field("condition-never", parent, field, ast.Constant(False))
        yield in_field("condition-always", parent, field, ast.Constant(True))


def _site(operator: str, at: ast.AST, was: ast.AST, becomes: ast.AST, put: Callable[[ast.AST], None]) -> Site:
    if hasattr(at, "lineno") and not hasattr(becomes, "lineno") and "lineno" in becomes._attributes:
        ast.copy_location(becomes, at)
        ast.fix_missing_locations(becomes)
    line, column = getattr(at, "lineno", 0), getattr(at, "col_offset", 0)
    return Site(operator, line, column, was, becomes, lambda: put(becomes), lambda: put(was))


def in_field(operator: str, parent: ast.AST, field: str, becomes: ast.expr) -> Site:
    was = getattr(parent, field)
    return _site(operator, was, was, becomes, lambda node: setattr(parent, field, node))


def in_list(operator: str, held: list[Any], place: int, becomes: ast.AST, at: ast.AST | None = None) -> Site:
    was = held[place]
    return _site(operator, at or was, was, becomes, lambda node: held.__setitem__(place, node))


def in_body(handler: ast.ExceptHandler, becomes: ast.Raise) -> Site:
    """The body of a handler, all of it."""
    kept = handler.body[:]

    def put(node: ast.AST) -> None:
        handler.body[:] = [becomes] if node is becomes else kept

    return _site("handler", handler, handler, becomes, put)
