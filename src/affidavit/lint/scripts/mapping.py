"""Dicts that a script builds: displays, ``dict(...)``, unions, and the methods that change them."""

from __future__ import annotations

import ast

from affidavit.lint.scripts.argument import Arguments
from affidavit.lint.scripts.state import constant
from affidavit.lint.scripts.value import UNKNOWN, Entry, Items, Names, Ref, Value
from affidavit.lint.scripts.walk import Walk


def entry(walk: Walk, name: str, node: ast.expr, value: Value, line: int) -> Entry:
    """Return one name as it is written here."""
    return Entry(name, walk.path, line, node, value, walk.guard_of(name))


def display(walk: Walk, node: ast.Dict) -> Ref:
    """Return the dict that a display makes; a key that is no literal is not known, the others are."""
    names: Names = {}
    is_whole = True
    for key, one in zip(node.keys, node.values):
        name = constant(walk.value(key)) if key is not None else None
        value = walk.value(one)
        if key is None:
            names.update(copied(walk, value))
            is_whole = is_whole and is_known(walk, value)
        elif name is not None:
            names[name] = entry(walk, name, one, value, key.lineno)
        else:
            walk.hand_over(value)
            is_whole = False
    return made(walk, names, is_whole=is_whole)


def made(walk: Walk, names: Names, *, is_whole: bool) -> Ref:
    """Return a new dict, of which these are all names or some."""
    ref = walk.heap.new(names)
    if not is_whole:
        walk.heap.open(ref)
    return ref


def is_known(walk: Walk, value: Value) -> bool:
    """Whether ``**value`` brings no name that is not known."""
    return (
        isinstance(value, Ref)
        and not walk.heap.is_open(value)
        and not any(map(walk.heap.is_doubtful, walk.heap.read(value).values()))
    )


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
    is_whole = is_known(walk, one) and is_known(walk, other)
    return made(walk, {**copied(walk, one), **copied(walk, other)}, is_whole=is_whole)


def make(walk: Walk, positional: tuple[Value, ...], names: Names, *, is_whole: bool) -> Ref:
    """Return ``dict(...)``: of a dict, of pairs, of names."""
    is_whole = is_whole and all(_is_known_of(walk, one) for one in positional)
    return made(walk, {**(_pairs(walk, positional[0]) if positional else {}), **names}, is_whole=is_whole)


def _is_known_of(walk: Walk, value: Value) -> bool:
    """Whether a dict or a list of pairs brings no name that is not known."""
    if not isinstance(value, Items):
        return is_known(walk, value)
    pairs = (one.items if isinstance(one, Items) else () for one in value.items)
    return all(len(pair) == 2 and constant(pair[0]) is not None for pair in pairs)


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


def method(walk: Walk, ref: Ref, name: str, node: ast.Call, arguments: Arguments) -> Value:
    """Do to a dict what one of its methods does."""
    positional, names = arguments.positional, arguments.names
    key = constant(positional[0]) if positional else None
    if name in ("update", "__ior__"):
        added = {**(_pairs(walk, positional[0]) if positional else {}), **names}
        walk.heap.add(ref, tuple(added.values()))
        if arguments.is_open or arguments.has_star or not all(_is_known_of(walk, one) for one in positional):
            walk.heap.open(ref)
        return UNKNOWN
    if name == "setdefault":
        value = positional[1] if len(positional) > 1 else UNKNOWN
        known = walk.heap.read(ref).get(key) if key is not None else None
        if known is not None:
            return known.value
        if key is not None and len(node.args) > 1:
            walk.heap.add(ref, (entry(walk, key, node.args[1], value, node.lineno),))
        else:
            walk.heap.open(ref)
        return value
    if name in ("pop", "__delitem__", "popitem", "clear"):
        known = walk.heap.read(ref).get(key) if key is not None else None
        walk.heap.remove(ref, key)
        return known.value if known is not None else UNKNOWN
    if name in ("get", "__getitem__"):
        known = walk.heap.read(ref).get(key) if key is not None else None
        return known.value if known is not None else UNKNOWN
    if name == "copy":
        return made(walk, copied(walk, ref), is_whole=is_known(walk, ref))
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
        walk.heap.open(ref)
        walk.hand_over(value)
