"""What statements do to the names; where paths part and meet again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from affidavit.lint.scripts import declare, guard, mapping
from affidavit.lint.scripts.state import Moment
from affidavit.lint.scripts.target import bind
from affidavit.lint.scripts.value import UNKNOWN, Constant, Items, Namespace, Ref, Value
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
            if not mapping.is_known(walk, value):
                walk.heap.open(old)
        else:
            walk.lose(value)
            walk.frame.names[node.target.id] = UNKNOWN
    else:
        walk.lose(value)
        walk.value(node.target.value if isinstance(node.target, ast.Attribute | ast.Subscript) else node.target)


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
    asked, is_main = _told(walk, node.test)
    walk.asked.append(asked)
    try:
        goes_on = _part(walk, arms, reason, is_choice=not is_main)
    finally:
        walk.asked.pop()
    if reason and any(block and isinstance(block[-1], ast.Return | ast.Continue | ast.Break) for block, _ in arms):
        walk.frame.guard = walk.frame.guard or reason
    return goes_on


def _told(walk: Walk, test: ast.expr) -> tuple[frozenset[str], bool]:
    """Return the names that a test asks for, and whether it asks if this file is the program; once for each test."""
    told = walk.frame.source.told
    if id(test) not in told:
        told[id(test)] = (guard.asked(test), "__name__" in guard.words(test))
    return told[id(test)]


def _part(walk: Walk, arms: list[tuple[list[ast.stmt], str]], reason: str, *, is_choice: bool = True) -> bool:
    """Walk the arms one beside the other, each under its guard, and go on from where they meet."""
    base = walk.moment()
    ends: list[Moment] = []
    conditions = walk.heap.conditions
    depth = len(conditions)
    for block, guarding in arms:
        walk.go_back(base)
        if is_choice:
            walk.heap.condition()
        with walk.guarded(guarding):
            if walk.execute(walk, block):
                ends.append(walk.moment())
        del conditions[depth:]
    if is_choice and len(ends) < len(arms):
        walk.heap.condition()  # what follows is reached by some only
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
    _part(walk, [(node.body, ""), ([], "")], "", is_choice=False)
    walk.execute(walk, node.orelse)


def _while(walk: Walk, node: ast.While) -> None:
    walk.value(node.test)
    reason = walk.speaks(node.test)
    _part(walk, [(node.body, reason), ([], "")], reason, is_choice=False)
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
    ast.FunctionDef: declare.function,
    ast.AsyncFunctionDef: declare.function,
    ast.ClassDef: declare.class_,
    ast.Import: declare.import_,
    ast.ImportFrom: declare.import_from,
    ast.Global: _global,
    ast.Nonlocal: _global,
}
