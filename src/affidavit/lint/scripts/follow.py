"""Calls that go on inside the project: a function's body with what it is given, a class with what it takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from affidavit.lint.scripts import guard, lookup, mapping, parser
from affidavit.lint.scripts.argument import Arguments
from affidavit.lint.scripts.state import Moment
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Class,
    Constant,
    Entry,
    Frame,
    Function,
    Instance,
    Items,
    Leftover,
    Namespace,
    Object,
    Parsing,
    Ref,
    Value,
)
from affidavit.lint.scripts.walk import Returned, Walk

DEEPEST: Final = 3
_SHORT: Final = 40
_LONG: Final = 200
_HARMLESS: Final = frozenset(
    {
        "abstractmethod",
        "cache",
        "classmethod",
        "inference_mode",
        "lru_cache",
        "main",
        "no_grad",
        "override",
        "record",
        "staticmethod",
        "wraps",
    }
)
_GIVES: Final = re.compile(rb"\breturn\b[^\n]*[\w)}\]]")
_MAKES: Final = re.compile(rb"(?:return|[=(:,])\s*\{|\bdict\(|parse_|from_pretrained\(|(?:Config|Arguments)\(")


def function(walk: Walk, node: ast.Call, called: Function, first: Value | None, arguments: Arguments) -> Value:
    """Return what a function of the project gives back; its calls are noted with what it is given here.

    Blind to: a generator's values; calls more than three deep; a recursion.
    """
    is_walkable = (
        len(walk.calls) < DEEPEST
        and walk.budget > 0
        and called.node not in walk.inside
        and decorators_are_harmless(called.node)
        and _is_worth(walk, called, arguments)
    )
    if not is_walkable:
        for value in arguments.values():
            walk.lose(value)
        return UNKNOWN
    walk.budget -= _lines(called) + 1
    walk.found.followed.setdefault(called.node.name, set()).add((walk.path, node.lineno, node.col_offset))
    frame = Frame(source=called.frame.source, outer=called.frame, owner=called.owner)
    _bind(walk, called, first, arguments, frame)
    where = f"{called.node.name}() called in {walk.path.name}:{node.lineno}"
    return body(walk, called, frame, where)


def _lines(called: Function) -> int:
    return (called.node.end_lineno or called.node.lineno) - called.node.lineno


def _is_worth(walk: Walk, called: Function, arguments: Arguments) -> bool:
    """Whether the body can say more than it says alone: it is given something that is known, or gives it back.

    Long bodies are walked for what a parser made, and not for the rest: a test calls a trainer's thousand lines often.
    """
    lines, text = _lines(called), called.frame.source.text(called.node)
    rest = called.node.args.kwarg
    if rest is not None and arguments.names and b"**" + rest.arg.encode() in text.partition(b"\n")[2]:
        return lines <= _LONG
    kinds = {kind for value in arguments.values() for kind in _kinds(value)}
    if kinds & {Namespace, Parsing, Leftover, Object}:
        return True
    if Ref in kinds and (lines <= _SHORT or (lines <= _LONG and b"**" in text)):
        return True
    if Instance in kinds and lines <= _SHORT:
        return True
    return lines <= _LONG and _GIVES.search(text) is not None and _MAKES.search(text) is not None


def _kinds(value: Value) -> Iterator[type[Value]]:
    if isinstance(value, Items):
        for one in value.items:
            yield from _kinds(one)
    elif not isinstance(value, Object) or value.build is not None:
        yield type(value)


def decorators_are_harmless(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call of the name surely runs the body as it is written."""
    names = [guard.dotted(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
    return all(name.rpartition(".")[2] in _HARMLESS for name in names)


def body(walk: Walk, called: Function, frame: Frame, where: str) -> Value:
    """Walk a function's body in a frame of its own, and the functions inside it after it."""
    returns, walk.returns = walk.returns, []
    pending, walk.pending = walk.pending, []
    depth = len(walk.heap.conditions)
    walk.inside.append(called.node)
    if not where:
        walk.heap.condition()  # who calls it may have asked first
    if where:
        walk.calls.append(where)
    try:
        with walk.scope(frame), walk.guarded(_shield(walk, called.node)):
            base = walk.moment()
            if walk.execute(walk, called.node.body):
                walk.returns.append(Returned(Constant(None), walk.moment(), walk.guard))
            value = _joined(walk, base, walk.returns)
            _inner(walk)
    finally:
        walk.inside.pop()
        del walk.heap.conditions[depth:]
        if where:
            walk.calls.pop()
        walk.returns, walk.pending = returns, pending
    return value


def _shield(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if node.name in walk.shields:
        return f"{node.name}() is called inside except TypeError"
    return guard.decorated(node.decorator_list)


def _joined(walk: Walk, base: Moment, returns: list[Returned]) -> Value:
    if not returns:
        return UNKNOWN
    walk.heap.merge(base, [one.moment for one in returns])
    reason = next((one.guard for one in returns if one.guard), "")
    value = returns[0].value
    for one in returns[1:]:
        value = walk.join(value, one.value, reason)
    return value


def _inner(walk: Walk) -> None:
    """Walk the functions that the body defines, as somebody calls them whom nobody sees."""
    for inner in walk.pending:
        kept = dict(walk.heap.dicts)
        alone(walk, inner)
        walk.heap.dicts = kept


def alone(walk: Walk, called: Function) -> None:
    """Walk a function of which nobody knows what it is given."""
    frame = Frame(source=called.frame.source, outer=called.frame, owner=called.owner, guard=called.frame.guard)
    for one in _parameters(called.node.args):
        frame.names[one] = UNKNOWN
    if called.node not in walk.inside:
        value = body(walk, called, frame, "")
        parser.returned(value, called.node.name)


def _parameters(arguments: ast.arguments) -> list[str]:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in (*named, arguments.vararg, arguments.kwarg) if one is not None]


def _bind(walk: Walk, called: Function, first: Value | None, arguments: Arguments, frame: Frame) -> None:
    """Give the parameters their values; what is not certain is unknown."""
    taken = called.node.args
    places = [one.arg for one in (*taken.posonlyargs, *taken.args)]
    defaults: dict[str, ast.expr] = dict(zip(reversed(places), reversed(taken.defaults)))
    defaults.update({one.arg: node for one, node in zip(taken.kwonlyargs, taken.kw_defaults) if node is not None})
    positional = arguments.positional if first is None else (first, *arguments.positional)
    names: dict[str, Entry] = dict(arguments.names)
    is_certain = not arguments.has_star and not arguments.is_open
    for place, name in enumerate(places):
        if place < len(positional) and not (arguments.has_star and place):
            frame.names[name] = positional[place]
        else:
            frame.names[name] = _named(walk, called, name, names, defaults, is_certain)
    for one in taken.kwonlyargs:
        frame.names[one.arg] = _named(walk, called, one.arg, names, defaults, is_certain)
    if taken.vararg is not None:
        frame.names[taken.vararg.arg] = UNKNOWN
    for value in positional[len(places) :]:
        walk.lose(value)
    if taken.kwarg is not None:
        frame.names[taken.kwarg.arg] = mapping.made(walk, names, is_whole=not arguments.is_open)


def _named(
    walk: Walk,
    called: Function,
    name: str,
    names: dict[str, Entry],
    defaults: dict[str, ast.expr],
    is_certain: bool,
) -> Value:
    entry = names.pop(name, None)
    if entry is not None:
        return entry.value
    if name in defaults and is_certain:
        with walk.scope(called.frame):
            return walk.value(defaults[name])
    return UNKNOWN


def construct(walk: Walk, node: ast.Call, cls: Class, arguments: Arguments) -> Value:
    """Return an object of a class of the project; its names go to the installed class that really takes them."""
    above = lookup.lineage(cls)
    own, installed = above.own, above.installed
    made = Object(cls)
    if "typing.TypedDict" in installed or "typing_extensions.TypedDict" in installed:
        return mapping.made(walk, dict(arguments.names), is_whole=not arguments.is_open)
    if any(one.node.keywords for one in own) or lookup.member(cls, "__new__") is not None or not above.is_whole:
        return _given_away(walk, made, arguments)
    started = lookup.member(cls, "__init__")
    parsers = [dotted for dotted in installed if parser.makes(dotted)]
    if parsers:
        return parser.make(walk, node, parsers[0], arguments, is_own=started is not None)
    if started is not None:
        if isinstance(started[0], Function):
            function(walk, node, started[0], made, arguments)
            return made
        return _given_away(walk, made, arguments)
    fields = own_fields(own)
    if len(installed) == 1 and fields is not None:
        given = {name: one for name, one in arguments.names.items() if name not in fields}
        walk.emit(installed[0], node, given, is_open=arguments.may_be_more or bool(fields))
    for value in arguments.values():
        walk.hand_over(value)
    return made


def _given_away(walk: Walk, made: Object, arguments: Arguments) -> Value:
    for value in arguments.values():
        walk.lose(value)
    return made


def own_fields(own: tuple[Class, ...]) -> set[str] | None:
    """Return the fields that the project's dataclasses add, None where a decorator may do anything."""
    found: set[str] = set()
    for one in own:
        for decorator in one.node.decorator_list:
            name = guard.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name.rpartition(".")[2] != "dataclass":
                return None
        found |= {
            line.target.id
            for line in one.node.body
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
        }
    return found


def is_dataclass(cls: Class) -> bool:
    """Whether a class, or one above it in the project, is a dataclass."""
    return any(
        guard.dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2] == "dataclass"
        for level in lookup.lineage(cls).own
        for one in level.node.decorator_list
    )
