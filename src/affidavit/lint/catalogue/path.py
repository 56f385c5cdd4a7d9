"""Whether a place in a function is reached on every path that ends without an error; only then it proves anything."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_SWALLOWED = frozenset({"TypeError", "Exception", "BaseException"})


def surely(body: Sequence[ast.stmt], place: ast.AST) -> bool:
    """Say whether every path through a body comes to a place, or raises.

    Blind to: loops that never end and calls that never return; a place inside of a loop, a lambda, a conditional
    expression or a nested function counts as one that may be passed by.
    """
    for node in body:
        if isinstance(node, ast.If):
            if node is place:
                return True
            if _surely_both(node, place):
                return True
            if _leaves(node):
                return False
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if surely(node.body, place):
                return not any("suppress" in ast.unparse(item.context_expr) for item in node.items)
            if _leaves(node):
                return False
        elif isinstance(node, ast.Try):
            if surely(node.body, place):
                return not any(_swallows(handler) for handler in node.handlers)
            if _leaves(node):
                return False
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if _leaves(node):
                return False
        elif isinstance(node, ast.Raise) or _contains(node, place):
            return True
        elif isinstance(node, ast.Return):
            return False
    return False


def _surely_both(node: ast.If, place: ast.AST) -> bool:
    one, other = surely(node.body, place), surely(node.orelse, place)
    if one and other:
        return True
    return (one and _raises(node.orelse)) or (other and _raises(node.body))


def _raises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise) and not any(_leaves(one) for one in body)


def _contains(node: ast.AST, place: ast.AST) -> bool:
    if node is place:
        return True
    if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return False
    return any(_contains(child, place) for child in ast.iter_child_nodes(node))


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
