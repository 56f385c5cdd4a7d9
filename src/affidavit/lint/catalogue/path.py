"""Whether a place in a function is reached on every path that ends without an error; only then it proves anything."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

_SWALLOWED = frozenset({"TypeError", "Exception", "BaseException"})


def surely(body: Sequence[ast.stmt], places: Collection[ast.AST]) -> bool:
    """Say whether every path through a body comes to one of some places, or raises.

    Blind to: loops that never end and calls that never return; a place inside of a loop, a lambda, a conditional
    expression or a nested function counts as one that may be passed by.
    """
    for node in body:
        if isinstance(node, ast.If):
            if node in places:
                return True
            branches = [(surely(one, places), any(map(_leaves, one))) for one in (node.body, node.orelse)]
            if all(reached for reached, _ in branches):
                return True
            if any(leaves and not reached for reached, leaves in branches):
                return False
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if surely(node.body, places):
                return not any("suppress" in ast.unparse(item.context_expr) for item in node.items)
            if _leaves(node):
                return False
        elif isinstance(node, ast.Try):
            if surely(node.body, places):
                return not any(_swallows(handler) for handler in node.handlers)
            if _leaves(node):
                return False
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if _leaves(node):
                return False
        elif isinstance(node, ast.Raise) or _contains(node, places):
            return True
        elif isinstance(node, ast.Return):
            return False
    return False


def _contains(node: ast.AST, places: Collection[ast.AST]) -> bool:
    if node in places:
        return True
    if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return False
    return any(_contains(child, places) for child in ast.iter_child_nodes(node))


def _leaves(node: ast.AST) -> bool:
    """Say whether a return stands inside, and not in a function of its own."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return any(_leaves(child) for child in ast.iter_child_nodes(node))


def _swallows(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        caught = True
    else:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        caught = any(ast.unparse(kind).rpartition(".")[2] in _SWALLOWED for kind in kinds)
    return caught and not (handler.body and isinstance(handler.body[-1], ast.Raise))
