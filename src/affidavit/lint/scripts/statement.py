"""What statements do to the names; where paths part and meet again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from affidavit.lint.scripts import follow, guard, lookup, mapping
from affidavit.lint.scripts.source import Source
from affidavit.lint.scripts.state import Moment
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Class,
    Constant,
    Frame,
    Function,
    Installed,
    Instance,
    Items,
    Lazy,
    Namespace,
    Object,
    Ref,
    Value,
)
from affidavit.lint.scripts.walk import Returned, Walk


def execute(walk: Walk, block: list[ast.stmt]) -> bool:
    """Walk statements in their order; whether the last can be reached and left."""
    for statement in block:
        known = _KINDS.get(type(statement))
        if known is None:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    walk.lose(walk.value(child))
        elif known(walk, statement) is False:
            return False
    return True


def _expression(walk: Walk, node: ast.Expr) -> None:
    walk.value(node.value)


def _assign(walk: Walk, node: ast.Assign) -> None:
    value = walk.value(node.value)
    for target in node.targets:
        bind(walk, target, value, node.value)


def _annotated(walk: Walk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bind(walk, node.target, walk.value(node.value), node.value)


def _changed(walk: Walk, node: ast.AugAssign) -> None:
    value = walk.value(node.value)
    if isinstance(node.target, ast.Name):
        old = walk.frame.names.get(node.target.id, UNKNOWN)
        if isinstance(node.op, ast.BitOr) and isinstance(old, Ref):
            walk.heap.add(old, tuple(mapping.copied(walk, value).values()))
        else:
            walk.lose(value)
            walk.frame.names[node.target.id] = UNKNOWN
    else:
        walk.lose(value)
        walk.value(node.target.value if isinstance(node.target, ast.Attribute | ast.Subscript) else node.target)


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
        own, installed, is_whole = lookup.lineage(holder.of)
        fields = follow.own_fields(own)
        is_own = fields is None or name in fields or lookup.member(holder.of, name) is not None
        if is_whole and len(installed) == 1 and not is_own:
            walk.set_late(Instance(installed[0]), name, line)
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


def _delete(walk: Walk, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            walk.frame.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            holder, key = walk.value(target.value), walk.value(target.slice)
            if isinstance(holder, Ref):
                text = key.value if isinstance(key, Constant) else None
                walk.heap.remove(holder, text if isinstance(text, str) else None)
        elif isinstance(target, ast.Attribute):
            holder = walk.value(target.value)
            if isinstance(holder, Namespace):
                holder.build.removed.add(target.attr)


def _return(walk: Walk, node: ast.Return) -> bool:
    value = walk.value(node.value) if node.value is not None else Constant(None)
    walk.returns.append(Returned(value, walk.moment(), walk.guard))
    return False


def _raise(walk: Walk, node: ast.Raise) -> bool:
    for one in (node.exc, node.cause):
        if one is not None:
            walk.value(one)
    return False


def _leave(walk: Walk, node: ast.stmt) -> bool:
    return False


def _if(walk: Walk, node: ast.If) -> bool:
    walk.value(node.test)
    reason = walk.speaks(node.test)
    arms = [(node.body, reason), (node.orelse, reason)]
    goes_on = _part(walk, arms, reason)
    if reason and any(block and isinstance(block[-1], ast.Return | ast.Continue | ast.Break) for block, _ in arms):
        walk.frame.guard = walk.frame.guard or reason
    return goes_on


def _part(walk: Walk, arms: list[tuple[list[ast.stmt], str]], reason: str) -> bool:
    """Walk the arms one beside the other, each under its guard, and go on from where they meet."""
    base = walk.moment()
    ends: list[Moment] = []
    for block, guarding in arms:
        walk.go_back(base)
        with walk.guarded(guarding):
            if walk.execute(walk, block):
                ends.append(walk.moment())
    if not ends:
        walk.go_back(base)
        return False
    walk.meet(base, ends, reason)
    return True


def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    value = walk.value(node.iter)
    item: Value = UNKNOWN
    if isinstance(value, Items) and value.items:
        item = value.items[0]
        for one in value.items[1:]:
            item = walk.join(item, one, "")
    elif not isinstance(value, Ref):
        walk.lose(value)
    bind(walk, node.target, UNKNOWN if isinstance(item, Constant) else item, node.iter)
    _part(walk, [(node.body, ""), ([], "")], "")
    walk.execute(walk, node.orelse)


def _while(walk: Walk, node: ast.While) -> None:
    walk.value(node.test)
    reason = walk.speaks(node.test)
    _part(walk, [(node.body, reason), ([], "")], reason)
    walk.execute(walk, node.orelse)


def _try(walk: Walk, node: ast.Try) -> bool:
    """The body, or part of it and a handler. What only one of them says hangs on what is installed."""
    swallowed = guard.caught(node.handlers)
    about_import = guard.refuses_import(node.handlers)
    reason = swallowed or ("behind a try that may fail" if node.handlers else "")
    base = walk.moment()
    ends: list[Moment] = []
    with walk.guarded(swallowed):
        goes_on = walk.execute(walk, node.body)
    after = walk.moment()
    if goes_on:
        with walk.guarded(reason if about_import and node.orelse else ""):
            if walk.execute(walk, node.orelse):
                ends.append(walk.moment())
    for handler in node.handlers:
        walk.go_back(base)
        walk.meet(base, [base, after], reason)
        if handler.type is not None:
            walk.value(handler.type)
        if handler.name is not None:
            walk.frame.names[handler.name] = UNKNOWN
        with walk.guarded("inside an except"):
            if walk.execute(walk, handler.body):
                ends.append(walk.moment())
    if ends:
        walk.meet(base, ends, reason)
    else:
        walk.go_back(after)
    return walk.execute(walk, node.finalbody) and bool(ends)


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> bool:
    reason = ""
    for item in node.items:
        value = walk.value(item.context_expr)
        reason = reason or guard.expects(item.context_expr)
        if item.optional_vars is not None:
            walk.lose(value)
            bind(walk, item.optional_vars, UNKNOWN, item.context_expr)
    if not reason:
        return walk.execute(walk, node.body)
    with walk.guarded(reason):
        walk.execute(walk, node.body)
    return True


def _match(walk: Walk, node: ast.Match) -> bool:
    walk.lose(walk.value(node.subject))
    for case in node.cases:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                walk.frame.names[name] = UNKNOWN
        if case.guard is not None:
            walk.value(case.guard)
    reason = walk.speaks(node.subject)
    return _part(walk, [*((case.body, reason) for case in node.cases), ([], "")], reason)


def _function(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for one in (*node.decorator_list, *node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
        walk.value(one)
    made = Function(node, walk.frame, walk.frame.owner if walk.frame.is_class else None)
    walk.pending.append(made)
    walk.frame.names[node.name] = made


def _class(walk: Walk, node: ast.ClassDef) -> None:
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


def _import(walk: Walk, node: ast.Import) -> None:
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


def _import_from(walk: Walk, node: ast.ImportFrom) -> None:
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


def _global(walk: Walk, node: ast.Global | ast.Nonlocal) -> None:
    for name in node.names:
        walk.frame.names[name] = UNKNOWN
        walk.frame.shared.add(name)


_KINDS: Final[dict[type[ast.stmt], Callable[..., bool | None]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _changed,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _global,
}
