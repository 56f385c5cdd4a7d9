"""What an expression is, as far as its text says."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Final

from affidavit.lint.scripts import lookup, mapping
from affidavit.lint.scripts.call import call
from affidavit.lint.scripts.state import constant
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Constant,
    Frame,
    Installed,
    Instance,
    Items,
    Lazy,
    Leftover,
    Ref,
    Value,
)
from affidavit.lint.scripts.walk import Walk

_BUILTINS: Final = frozenset(dir(builtins))


def evaluate(walk: Walk, node: ast.expr) -> Value:
    """Return what an expression is, and walk every call inside it.

    Blind to: operators and descriptors that a class overloads.
    """
    known = _KINDS.get(type(node))
    if known is not None:
        return known(walk, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            walk.lose(evaluate(walk, child))
    return UNKNOWN


def _constant(walk: Walk, node: ast.Constant) -> Value:
    return Constant(node.value)


def _name(walk: Walk, node: ast.Name) -> Value:
    frame: Frame | None = walk.frame
    is_first = True
    while frame is not None:
        if (is_first or not frame.is_class) and node.id in frame.names:
            value = frame.names[node.id]
            if isinstance(value, Lazy):
                value = lookup.resolve(walk, value)
            elif isinstance(value, Ref) and not is_first and node.id in lookup.volatile(frame.source):
                value = UNKNOWN
            elif isinstance(value, Leftover):
                value.build.uses_leftover = True
            return value
        is_first = False
        frame = frame.outer
    return Installed(f"builtins.{node.id}") if node.id in _BUILTINS else UNKNOWN


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    return lookup.attribute(walk, evaluate(walk, node.value), node.attr)


def _items(walk: Walk, node: ast.Tuple | ast.List) -> Value:
    found: list[Value] = []
    is_whole = True
    for one in node.elts:
        value = evaluate(walk, one.value if isinstance(one, ast.Starred) else one)
        if not isinstance(one, ast.Starred):
            found.append(value)
        elif isinstance(value, Items):
            found += value.items
        else:
            walk.lose(value)
            is_whole = False
    if is_whole:
        return Items(tuple(found))
    walk.lose(Items(tuple(found)))
    return UNKNOWN


def _choice(walk: Walk, node: ast.IfExp) -> Value:
    evaluate(walk, node.test)
    reason = walk.speaks(node.test)
    depth = len(walk.heap.conditions)
    with walk.guarded(reason):
        walk.heap.condition()
        one, other = evaluate(walk, node.body), evaluate(walk, node.orelse)
        del walk.heap.conditions[depth:]
    return walk.join(one, other, reason)


def _either(walk: Walk, node: ast.BoolOp) -> Value:
    value = evaluate(walk, node.values[0])
    for before, one in zip(node.values, node.values[1:]):
        reason = walk.speaks(before)
        with walk.guarded(reason):
            other = evaluate(walk, one)
        value = walk.join(value, other, reason)
    return value if isinstance(node.op, ast.Or) else UNKNOWN


def _compared(walk: Walk, node: ast.Compare) -> Value:
    for one in (node.left, *node.comparators):
        evaluate(walk, one)
    return UNKNOWN


def _binary(walk: Walk, node: ast.BinOp) -> Value:
    one, other = evaluate(walk, node.left), evaluate(walk, node.right)
    if isinstance(node.op, ast.BitOr) and isinstance(one, Ref):
        return mapping.union(walk, one, other)
    if isinstance(node.op, ast.Add) and isinstance(one, Items) and isinstance(other, Items):
        return Items(one.items + other.items)
    walk.lose(one)
    walk.lose(other)
    return UNKNOWN


def _named(walk: Walk, node: ast.NamedExpr) -> Value:
    value = evaluate(walk, node.value)
    walk.frame.names[node.target.id] = value
    return value


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    value, key = evaluate(walk, node.value), evaluate(walk, node.slice)
    if isinstance(value, Ref):
        name = constant(key)
        entry = walk.heap.read(value).get(name) if name is not None else None
        if name is None:
            for one in walk.heap.read(value).values():
                walk.lose(one.value)
        return entry.value if entry is not None else UNKNOWN
    if isinstance(value, Items):
        place = key.value if isinstance(key, Constant) else None
        if isinstance(place, int) and -len(value.items) <= place < len(value.items):
            return value.items[place]
        walk.lose(value)
    if isinstance(value, Instance) and value.of == "datasets.DatasetDict":
        return Instance("datasets.Dataset", is_exact=False)
    if isinstance(value, Installed):
        return value  # Generic[T] is still Generic
    return UNKNOWN


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    arguments = node.args
    frame = Frame(source=walk.frame.source, outer=walk.frame, owner=walk.frame.owner, guard=walk.frame.guard)
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if one is not None:
            frame.names[one.arg] = UNKNOWN
    with walk.scope(frame):
        walk.lose(evaluate(walk, node.body))
    return UNKNOWN


def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    frame = Frame(source=walk.frame.source, outer=walk.frame, owner=walk.frame.owner, guard=walk.frame.guard)
    reasons = []
    with walk.scope(frame):
        for loop in node.generators:
            evaluate(walk, loop.iter)
            for one in ast.walk(loop.target):
                if isinstance(one, ast.Name):
                    frame.names[one.id] = UNKNOWN
            for test in loop.ifs:
                evaluate(walk, test)
                reasons.append(walk.speaks(test))
        with walk.guarded(next(filter(None, reasons), "")):
            for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                walk.lose(evaluate(walk, part))
    return UNKNOWN


def _unary(walk: Walk, node: ast.UnaryOp) -> Value:
    evaluate(walk, node.operand)
    return UNKNOWN


def _dict(walk: Walk, node: ast.Dict) -> Value:
    return mapping.display(walk, node)


def _call(walk: Walk, node: ast.Call) -> Value:
    return call(walk, node)


def _text(walk: Walk, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            evaluate(walk, part.value)  # text that holds a value is no use of it
    return UNKNOWN


_KINDS: Final[dict[type[ast.expr], Callable[..., Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: _items,
    ast.List: _items,
    ast.IfExp: _choice,
    ast.BoolOp: _either,
    ast.Compare: _compared,
    ast.BinOp: _binary,
    ast.NamedExpr: _named,
    ast.Subscript: _subscript,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Dict: _dict,
    ast.Call: _call,
    ast.UnaryOp: _unary,
    ast.JoinedStr: _text,
}
