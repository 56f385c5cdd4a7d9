"""What brings a name into a scope: functions, classes, imports."""

from __future__ import annotations

import ast

from affidavit.lint.scripts.source import Source
from affidavit.lint.scripts.value import UNKNOWN, Class, Frame, Function, Installed, Lazy, Value
from affidavit.lint.scripts.walk import Walk


def function(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Bind a function, and keep it to be walked when its scope is done."""
    for one in (*node.decorator_list, *node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
        walk.value(one)
    made = Function(node, walk.frame, walk.frame.owner if walk.frame.is_class else None)
    walk.pending.append(made)
    walk.frame.names[node.name] = made


def class_(walk: Walk, node: ast.ClassDef) -> None:
    """Bind a class; its body is walked at once, its methods later."""
    bases = tuple(walk.value(one) for one in node.bases)
    for one in node.decorator_list:
        walk.value(one)
    made = Class(node, walk.frame.source, bases, {})
    frame = Frame(walk.frame.source, walk.frame, is_class=True, owner=made, guard=walk.frame.guard)
    with walk.scope(frame):
        walk.execute(walk, node.body)
    made.body.update(frame.names)
    made.body.update({name: UNKNOWN for name in _declared(node) if name not in frame.names})
    walk.frame.names[node.name] = made


def _declared(node: ast.ClassDef) -> list[str]:
    return [one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]


def import_(walk: Walk, node: ast.Import) -> None:
    """Bind what ``import a.b`` and ``import a.b as c`` bind."""
    for alias in node.names:
        source = walk.project.find(alias.name, walk.frame.source, 0)
        top = alias.name.partition(".")[0]
        if alias.asname is not None:
            value: Value = Installed(alias.name)
            if source is not None:
                value = Lazy(source, "")
            elif walk.project.owns(alias.name, walk.frame.source):
                value = UNKNOWN
            walk.frame.names[alias.asname] = value
        else:
            package = walk.project.find(top, walk.frame.source, 0)
            walk.frame.names[top] = Lazy(package, "") if package is not None else Installed(top)
            if package is None and walk.project.owns(top, walk.frame.source):
                walk.frame.names[top] = UNKNOWN


def import_from(walk: Walk, node: ast.ImportFrom) -> None:
    """Bind what ``from a import b`` binds; nothing of another file is looked at before it is used."""
    module = node.module or ""
    source = walk.project.find(module, walk.frame.source, node.level)
    is_ours = source is not None or node.level > 0 or walk.project.owns(module, walk.frame.source)
    for alias in node.names:
        name = alias.asname or alias.name
        if alias.name == "*":
            frame = walk.enter(walk, source) if source is not None else None
            for one in [] if frame is None else [one for one in frame.names if not one.startswith("_")]:
                walk.frame.names[one] = frame.names[one] if frame is not None else UNKNOWN
        elif not is_ours:
            walk.frame.names[name] = Installed(f"{module}.{alias.name}")
        else:
            walk.frame.names[name] = _ours(walk, source, module, alias.name, node.level)


def _ours(walk: Walk, source: Source | None, module: str, name: str, level: int) -> Value:
    below = f"{module}.{name}" if module else name
    if source is None:
        found = walk.project.find(below, walk.frame.source, level)
        return Lazy(found, "") if found is not None else UNKNOWN
    return Lazy(source, name)
