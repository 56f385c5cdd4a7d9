"""What a definition says of itself by its decorators."""

from __future__ import annotations

import ast

from affidavit.lint.catalogue.thing import FunctionNode


def decorators(node: FunctionNode | ast.ClassDef) -> list[tuple[str, ast.expr]]:
    """Return the decorators of a definition by their last name, the innermost first."""
    found = []
    for one in reversed(node.decorator_list):
        called = one.func if isinstance(one, ast.Call) else one
        found.append((ast.unparse(called).rpartition(".")[2], one))
    return found


def is_overload(node: FunctionNode) -> bool:
    """Say whether a definition only tells checkers of one way to call."""
    return any(name == "overload" for name, _ in decorators(node))


def is_property(node: FunctionNode) -> bool:
    """Say whether a method is looked up as a value."""
    return any(name.endswith("property") or name in {"setter", "getter", "deleter"} for name, _ in decorators(node))


def is_bound(node: FunctionNode) -> bool:
    """Say whether the first parameter is given by looking it up: a class method, or a method of a live object."""
    return not any(name == "staticmethod" for name, _ in decorators(node))
