"""What a value is given to: names, items, attributes."""

from __future__ import annotations

import ast

from affidavit.lint.scripts import follow, lookup, mapping
from affidavit.lint.scripts.value import UNKNOWN, Instance, Items, Object, Ref, Value
from affidavit.lint.scripts.walk import Walk


def bind(walk: Walk, target: ast.expr, value: Value, node: ast.expr) -> None:
    """Give a target its value."""
    if isinstance(target, ast.Name):
        if target.id in walk.frame.shared:
            walk.lose(value)
        else:
            walk.frame.names[target.id] = value
    elif isinstance(target, ast.Starred):
        walk.lose(value)
        bind(walk, target.value, UNKNOWN, node)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(walk, target.elts, value, node)
    elif isinstance(target, ast.Subscript):
        holder, key = walk.value(target.value), walk.value(target.slice)
        if isinstance(holder, Ref):
            mapping.store(walk, holder, key, node, value, target.lineno)
        else:
            walk.lose(value)
    elif isinstance(target, ast.Attribute):
        holder = walk.value(target.value)
        set_attribute(walk, holder, target.attr, target.lineno)
        walk.lose(value)


def set_attribute(walk: Walk, holder: Value, name: str, line: int) -> None:
    """Note an attribute that is set, on an installed object or on one of the project's that extends one."""
    if isinstance(holder, Object) and follow.is_dataclass(holder.of):
        above = lookup.lineage(holder.of)
        fields = follow.own_fields(above.own)
        is_own = fields is None or name in fields or lookup.member(holder.of, name) is not None
        if above.is_whole and len(above.installed) == 1 and not is_own:
            walk.set_late(Instance(above.installed[0]), name, line)
    else:
        walk.set_late(holder, name, line)


def _unpack(walk: Walk, targets: list[ast.expr], value: Value, node: ast.expr) -> None:
    has_star = any(isinstance(one, ast.Starred) for one in targets)
    items = value.items if isinstance(value, Items) else ()
    if len(items) == len(targets) and not has_star:
        parts = (
            node.elts
            if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(items)
            else [node] * len(items)
        )
        for target, one, part in zip(targets, items, parts):
            bind(walk, target, one, part)
        return
    for place, target in enumerate(targets):
        if place < len(items) and not any(isinstance(one, ast.Starred) for one in targets[: place + 1]):
            bind(walk, target, items[place], node)
        else:
            bind(walk, target, UNKNOWN, node)
    if not items or has_star:
        walk.lose(value)
