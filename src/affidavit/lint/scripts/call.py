"""What a call does: it reaches a watched callable, changes a dict, makes a parser, or goes on in the project."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from typing import Final

from affidavit.lint.scripts import follow, guard, lookup, mapping, parser, result
from affidavit.lint.scripts.argument import Arguments
from affidavit.lint.scripts.state import constant
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Bound,
    Class,
    Function,
    Installed,
    Instance,
    Items,
    Method,
    Namespace,
    Object,
    Parsing,
    Partial,
    Ref,
    Super,
    Value,
)
from affidavit.lint.scripts.walk import Walk

_SAYING: Final = re.compile(
    r"builtins\.(?:print|len|str|repr|format|isinstance|type|id|hash|bool|hasattr|issubclass|callable)"
    r"|(?:logging|warnings|pprint|rich)(?:\..*)?|(?:.*\.)?(?:logger|log|LOGGER|console|logging|warnings)\.\w+"
    r"|accelerator\.print"
)
"""What only says a value: no dict is changed, and no field is put to use."""

_READING: Final = re.compile(
    r"builtins\.(?:sorted|list|tuple|set|frozenset|iter|any|all|min|max|sum|enumerate|zip|map|filter|open|input)"
    r"|(?:json|yaml|tomllib|toml|pickle|os|sys|time|datetime|math|random|re|pathlib|shutil|hashlib|string|itertools)\..*"
    r"|(?:wandb|mlflow|comet_ml|neptune|trackio|tqdm|click|typer|tabulate)(?:\..*)?"
)
"""What reads a dict and leaves it as it was."""


@functools.cache
def _says(dotted: str) -> bool:
    return _SAYING.fullmatch(dotted) is not None


@functools.cache
def _reads(dotted: str) -> bool:
    return _READING.fullmatch(dotted) is not None


def call(walk: Walk, node: ast.Call) -> Value:
    """Return what a call gives back, and note what it asks for."""
    callee = walk.evaluate(walk, node.func)
    arguments = _arguments(walk, node)
    walk.line = node.lineno
    return onward(walk, node, callee, arguments)


def onward(walk: Walk, node: ast.Call, callee: Value, arguments: Arguments) -> Value:
    """Return what calling a value gives back."""
    if isinstance(callee, Installed):
        return _installed(walk, node, callee.dotted, arguments)
    if isinstance(callee, Method):
        return _method(walk, node, callee, arguments)
    if isinstance(callee, Function):
        return follow.function(walk, node, callee, None, arguments)
    if isinstance(callee, Bound):
        return follow.function(walk, node, callee.function, callee.first, arguments)
    if isinstance(callee, Class):
        return follow.construct(walk, node, callee, arguments)
    if isinstance(callee, Partial):
        arguments.is_partial = True
        return onward(walk, node, callee.function, arguments)
    if isinstance(callee, Instance):
        _emit(walk, result.method_of(callee, "__call__"), node, arguments)
        return _handed(walk, arguments)
    said = guard.dotted(node.func)
    if _says(said):
        return UNKNOWN
    if _reads(said):
        return _handed(walk, arguments)
    return _lost(walk, arguments)


def _arguments(walk: Walk, node: ast.Call) -> Arguments:
    arguments = Arguments()
    for one in node.args:
        value = walk.evaluate(walk, one.value if isinstance(one, ast.Starred) else one)
        if not isinstance(one, ast.Starred):
            arguments.positional += (value,)
        elif isinstance(value, Items):
            arguments.positional += value.items
        else:
            arguments.has_star = True
            walk.lose(value)
    for keyword in node.keywords:
        value = walk.evaluate(walk, keyword.value)
        if keyword.arg is not None:
            arguments.names[keyword.arg] = mapping.entry(walk, keyword.arg, keyword.value, value, keyword.lineno)
        else:
            arguments.is_open = arguments.is_open or not isinstance(value, Ref)
            arguments.hides = arguments.hides or not mapping.is_known(walk, value)
            arguments.names.update(mapping.copied(walk, value))
    return arguments


def _handed(walk: Walk, arguments: Arguments) -> Value:
    for value in arguments.values():
        walk.hand_over(value)
    return UNKNOWN


def _lost(walk: Walk, arguments: Arguments) -> Value:
    for value in arguments.values():
        walk.lose(value)
    return UNKNOWN


def _installed(walk: Walk, node: ast.Call, dotted: str, arguments: Arguments) -> Value:
    known = _KNOWN.get(dotted)
    if known is not None:
        return known(walk, node, arguments)
    if parser.makes(dotted):
        return parser.make(walk, node, dotted, arguments)
    if walk.watches(dotted):
        _emit(walk, dotted, node, arguments)
        if arguments.is_open and walk.inside:
            walk.found.conduits.add(walk.path)
        _handed(walk, arguments)
        return result.of(dotted, arguments)
    if _says(dotted):
        return UNKNOWN
    if _reads(dotted):
        return _handed(walk, arguments)
    if dotted.startswith(("unittest.mock.", "mock.")):
        _patched(walk, arguments)
    return _lost(walk, arguments)


def _method(walk: Walk, node: ast.Call, method: Method, arguments: Arguments) -> Value:
    receiver = method.receiver
    if isinstance(receiver, Ref):
        return mapping.method(walk, receiver, method.name, node, arguments)
    if isinstance(receiver, Parsing):
        return parser.method(walk, node, receiver, method.name, arguments)
    if isinstance(receiver, Instance):
        _emit(walk, result.method_of(receiver, method.name), node, arguments)
        _handed(walk, arguments)
        return result.of_method(receiver, method.name)
    return _lost(walk, arguments)


def _emit(walk: Walk, callee: str, node: ast.Call, arguments: Arguments) -> None:
    """Note what a call gives by name; one that gives nothing is noted too, its defaults may move."""
    positional = len(arguments.positional)
    walk.emit(callee, node, arguments.names, is_open=arguments.may_be_more, positional=positional)


def _patched(walk: Walk, arguments: Arguments) -> None:
    """Note what a test puts something else in the place of."""
    first = arguments.positional[0] if arguments.positional else UNKNOWN
    text = constant(first)
    if text is not None:
        walk.found.patched.add(text)
    elif isinstance(first, Installed) and len(arguments.positional) > 1:
        walk.found.patched.add(f"{first.dotted}.{constant(arguments.positional[1]) or ''}")


def _dict(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    is_whole = not arguments.may_be_more
    return mapping.make(walk, arguments.positional, arguments.names, is_whole=is_whole)


def _same(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    """A copy of a dict: another dict, or a view of the same one."""
    first = arguments.positional[0] if arguments.positional else UNKNOWN
    if isinstance(first, Ref):
        return mapping.made(walk, mapping.copied(walk, first), is_whole=mapping.is_known(walk, first))
    walk.hand_over(first)
    return first if isinstance(first, Instance) else UNKNOWN


def _cast(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    return arguments.positional[-1] if len(arguments.positional) == 2 else UNKNOWN


def _variables(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    return lookup.variables(walk, arguments.positional[0]) if arguments.positional else UNKNOWN


def _super(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    frame = walk.frame
    while frame.owner is None and frame.outer is not None:
        frame = frame.outer
    return Super(frame.owner) if frame.owner is not None and not node.args else UNKNOWN


def _partial(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    if not arguments.positional:
        return UNKNOWN
    first, rest = arguments.positional[0], arguments.positional[1:]
    if isinstance(first, Installed | Partial):
        given = Arguments(rest, arguments.names, arguments.has_star, arguments.is_open, is_partial=True)
        onward(walk, node, first, given)
        return Partial(first)
    return _lost(walk, arguments)


def _setattr(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    name = constant(arguments.positional[1]) if len(arguments.positional) == 3 else None
    if name is not None:
        walk.set_late(arguments.positional[0], name, node.lineno)
    for value in arguments.positional[2:]:
        walk.lose(value)
    return UNKNOWN


def _getattr(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) > 1 and constant(arguments.positional[1]) is None:
        walk.hand_over(arguments.positional[0])
        return UNKNOWN
    if len(arguments.positional) == 2:
        return lookup.attribute(walk, arguments.positional[0], constant(arguments.positional[1]) or "")
    return UNKNOWN


def _delattr(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) == 2 and isinstance(arguments.positional[0], Namespace):
        arguments.positional[0].build.removed.add(constant(arguments.positional[1]) or "")
    return UNKNOWN


def _replace(walk: Walk, node: ast.Call, arguments: Arguments) -> Value:
    first = arguments.positional[0] if arguments.positional else UNKNOWN
    if isinstance(first, Instance) and first.is_exact:
        walk.emit(first.of, node, arguments.names, is_open=True)
        return first
    if isinstance(first, Object):
        return first
    return _handed(walk, arguments)


_KNOWN: Final[dict[str, Callable[[Walk, ast.Call, Arguments], Value]]] = {
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "types.MappingProxyType": _same,
    "typing.cast": _cast,
    "builtins.vars": _variables,
    "dataclasses.asdict": _variables,
    "dataclasses.replace": _replace,
    "copy.replace": _replace,
    "builtins.super": _super,
    "builtins.setattr": _setattr,
    "builtins.getattr": _getattr,
    "builtins.delattr": _delattr,
    "functools.partial": _partial,
}
