"""A mapping that a script loads from a named file and reads by literal keys only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

LOADERS = frozenset({"safe_load", "full_load", "load", "loads"})
"""Functions of yaml, json, tomllib and tomli; which module they are of is asked as well."""
_MODULES = frozenset({"yaml", "json", "tomllib", "tomli", "toml"})
_ESCAPES = frozenset({"globals", "locals", "vars", "eval", "exec", "dir", "getattr", "setattr"})

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A file as a script loads it, and every key of it that is read."""

    file: str
    name: str
    line: int
    keys: frozenset[str]
    is_module: bool


def loaded_mappings(tree: ast.Module) -> Iterator[Loaded]:
    """Yield the mappings of which every use is seen, and is a literal key.

    One use of another kind, a second assignment, or a word that reaches names by text, and nothing is said.
    """
    if any(isinstance(node, ast.Name) and node.id in _ESCAPES for node in ast.walk(tree)):
        return
    for scope in _scopes(tree):
        for name, value, line in _assignments(scope):
            file = _file(value, scope)
            keys = _keys(tree if isinstance(scope, ast.Module) else scope, name)
            if file and keys is not None:
                is_module = isinstance(scope, ast.Module)
                yield Loaded(file=file, name=name, line=line, keys=keys, is_module=is_module)


def _scopes(tree: ast.Module) -> Iterator[Scope]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _own(scope: Scope) -> Iterator[ast.stmt]:
    """Yield the statements of a scope itself, those of ``with`` and ``if`` among them."""
    stack: list[ast.stmt] = list(reversed(scope.body))
    while stack:
        one = stack.pop()
        yield one
        if isinstance(one, ast.With | ast.If | ast.Try):
            stack.extend(reversed([child for child in ast.iter_child_nodes(one) if isinstance(child, ast.stmt)]))


def _assignments(scope: Scope) -> Iterator[tuple[str, ast.Call, int]]:
    for statement in _own(scope):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and _is_loader(value):
                yield target.id, value, statement.lineno


def _is_loader(call: ast.Call) -> bool:
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr in LOADERS
        and isinstance(func.value, ast.Name)
        and func.value.id in _MODULES
        and len(call.args) >= 1
        # An object hook sees every key.
        and all(keyword.arg == "Loader" for keyword in call.keywords)
    )


def _file(call: ast.Call, scope: Scope) -> str:
    """Return the file that a loader reads, "" where that is no literal."""
    given = call.args[0]
    if isinstance(given, ast.Name):
        bound = [
            item.context_expr
            for statement in _own(scope)
            if isinstance(statement, ast.With)
            for item in statement.items
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == given.id
            if statement.lineno <= call.lineno <= (statement.end_lineno or 0)
        ]
        return _opened(bound[0]) if len(bound) == 1 else ""
    return _opened(given)


def _opened(node: ast.expr) -> str:
    """Return the literal path in ``open("x")``, ``Path("x").open()``, ``Path("x").read_text()``, ``….read()``."""
    while isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Name) and func.id in ("open", "Path") and node.args:
            first = node.args[0]
            return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        if not isinstance(func, ast.Attribute) or func.attr not in ("open", "read", "read_text", "read_bytes"):
            return ""
        node = func.value
    return ""


def _keys(within: ast.AST, name: str) -> frozenset[str] | None:
    """Return the literal keys that are read of a name, None where it is used in any other way."""
    seen: set[str] = set()
    accounted = 0
    for node in ast.walk(within):
        if isinstance(node, ast.Subscript) and _is(node.value, name):
            if not _is_text(node.slice) or not isinstance(node.ctx, ast.Load):
                return None
            accounted += 1
            seen.add(node.slice.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is(node.func.value, name):
            if node.func.attr != "get" or not node.args or not _is_text(node.args[0]):
                return None
            accounted += 1
            seen.add(node.args[0].value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Compare) and any(_is(one, name) for one in node.comparators):
            if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn) or not _is_text(node.left):
                return None
            accounted += 1
            seen.add(node.left.value)  # type: ignore[attr-defined]
        elif (isinstance(node, ast.Global | ast.Nonlocal) and name in node.names) or (
            isinstance(node, ast.arg) and node.arg == name
        ):
            return None
    uses = sum(1 for node in ast.walk(within) if isinstance(node, ast.Name) and node.id == name)
    return frozenset(seen) if seen and uses == accounted + 1 else None


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
