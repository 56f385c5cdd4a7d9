"""Dicts that a script builds: displays, ``dict(...)``, unions, and the methods that change them."""

from __future__ import annotations

import ast

from affidavit.lint.scripts.state import constant
from affidavit.lint.scripts.value import UNKNOWN, Entry, Items, Names, Ref, Value
from affidavit.lint.scripts.walk import Walk


def entry(walk: Walk, name: str, node: ast.expr, value: Value, line: int) -> Entry:
    """Return one name as it is written here."""
    return Entry(name, walk.path, line, node, value, walk.guard_of(name))


def display(walk: Walk, node: ast.Dict) -> Ref:
    """Return the dict that a display makes; a key that is no literal is not known, the others are."""
    names: Names = {}
    for key, one in zip(node.keys, node.values):
        name = constant(walk.value(key)) if key is not None else None
        value = walk.value(one)
        if key is None:
            names.update(copied(walk, value))
        elif name is not None:
            names[name] = entry(walk, name, one, value, key.lineno)
        else:
            walk.hand_over(value)
    return walk.heap.new(names)


def copied(walk: Walk, value: Value) -> Names:
    """Return the names that ``**value`` brings, under the guard of this place."""
    if not isinstance(value, Ref):
        walk.hand_over(value)
        return {}
    names = {name: one for name, one in walk.heap.read(value).items() if not walk.heap.is_doubtful(one)}
    if not walk.guard:
        return names
    return {
        name: Entry(one.name, one.path, one.line, one.node, one.value, one.guard or walk.guard, one.since)
        for name, one in names.items()
    }


def union(walk: Walk, one: Ref, other: Value) -> Ref:
    """Return ``one | other``."""
    return walk.heap.new({**copied(walk, one), **copied(walk, other)})


def make(walk: Walk, positional: tuple[Value, ...], names: Names) -> Ref:
    """Return ``dict(...)``: of a dict, of pairs, of names."""
    return walk.heap.new({**(_pairs(walk, positional[0]) if positional else {}), **names})


def _pairs(walk: Walk, value: Value) -> Names:
    """Return the names of a dict or of a list of pairs."""
    if isinstance(value, Ref):
        return copied(walk, value)
    names: Names = {}
    for pair in value.items if isinstance(value, Items) else ():
        if isinstance(pair, Items) and len(pair.items) == 2:
            name = constant(pair.items[0])
            if name is not None:
                names[name] = Entry(name, walk.path, walk.line, None, pair.items[1], walk.guard)
    if not isinstance(value, Items):
        walk.hand_over(value)
    return names


def method(walk: Walk, ref: Ref, name: str, node: ast.Call, positional: tuple[Value, ...], names: Names) -> Value:
    """Do to a dict what one of its methods does."""
    key = constant(positional[0]) if positional else None
    if name in ("update", "__ior__"):
        added = {**(_pairs(walk, positional[0]) if positional else {}), **names}
        walk.heap.add(ref, tuple(added.values()))
        return UNKNOWN
    if name == "setdefault":
        value = positional[1] if len(positional) > 1 else UNKNOWN
        known = walk.heap.read(ref).get(key) if key is not None else None
        if known is not None:
            return known.value
        if key is not None and len(node.args) > 1:
            walk.heap.add(ref, (entry(walk, key, node.args[1], value, node.lineno),))
        return value
    if name in ("pop", "__delitem__", "popitem", "clear"):
        known = walk.heap.read(ref).get(key) if key is not None else None
        walk.heap.remove(ref, key)
        return known.value if known is not None else UNKNOWN
    if name in ("get", "__getitem__"):
        known = walk.heap.read(ref).get(key) if key is not None else None
        return known.value if known is not None else UNKNOWN
    if name == "copy":
        return walk.heap.new(copied(walk, ref))
    if name in ("items", "values"):
        for one in walk.heap.read(ref).values():
            walk.lose(one.value)
    elif name != "keys":
        walk.lose(ref)
    return UNKNOWN


def store(walk: Walk, ref: Ref, key: Value, node: ast.expr, value: Value, line: int) -> None:
    """Do ``ref[key] = value``."""
    name = constant(key)
    if name is not None:
        walk.heap.add(ref, (entry(walk, name, node, value, line),))
    else:
        walk.hand_over(value)
