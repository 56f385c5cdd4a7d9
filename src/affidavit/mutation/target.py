"""The function that a marker names, under whatever was wrapped around it.

Source: anchors-mechanisms C6 (limits of a swap of ``__code__``).
Blind to: copies of a function made with ``types.FunctionType``; what a subprocess runs.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

from affidavit.fact.errors import AffidavitError

_DEEP = 50
"""Wrappers around one function; nobody has as many, but two can wrap each other."""


class TargetError(AffidavitError):
    """What a marker names cannot be disarmed; the message says why."""


@dataclass(frozen=True)
class Target:
    """A Python function, the class it was named through, and the caches that would answer in its place."""

    name: str
    function: FunctionType
    owner: type | None
    clear: tuple[Callable[[], object], ...]


def resolve(name: str) -> Target:
    """Return the function that ``module:function`` or ``module:Class.method`` names.

    Raises:
        TargetError: no such module or name, or something that has no Python code of its own.
    """
    module_name, colon, path = name.partition(":")
    if not (module_name and colon and path):
        raise TargetError(f'expected "module:function", saw {name!r:.80}')
    found: Any = _module(module_name)
    owner: type | None = None
    for part in path.split("."):
        owner = found if isinstance(found, type) else owner
        found = _member(found, part, name)
    clear: list[Callable[[], object]] = []
    function = _peeled(found, path.rpartition(".")[2], clear)
    return Target(name=name, function=function, owner=owner, clear=tuple(clear))


def _module(name: str) -> ModuleType:
    try:
        return sys.modules.get(name) or importlib.import_module(name)
    except Exception as error:
        raise TargetError(f"module {name} cannot be imported: {type(error).__name__}: {error}") from error


def _member(holder: Any, part: str, name: str) -> Any:
    """Return a member as it was written: of a class, the descriptor itself."""
    if isinstance(holder, type):
        mangled = f"_{holder.__name__.lstrip('_')}{part}"
        for base in holder.__mro__:
            for asked in (part, mangled):
                if asked in vars(base):
                    return vars(base)[asked]
    elif hasattr(holder, part):
        return getattr(holder, part)
    near = difflib.get_close_matches(part, dir(holder), 1)
    hint = f'; did you mean "{near[0]}"' if near else ""
    raise TargetError(f'{name}: there is no "{part}" in {getattr(holder, "__name__", type(holder).__name__)}{hint}')


def _peeled(found: Any, last: str, clear: list[Callable[[], object]]) -> FunctionType:
    for _ in range(_DEEP):
        if callable(getattr(found, "cache_clear", None)):
            clear.append(found.cache_clear)
        inner = _inner(found, last)
        if inner is None:
            break
        found = inner
    if not isinstance(found, FunctionType):
        raise TargetError(_why_not(found, last))
    if found.__code__.co_name == "<lambda>":
        raise TargetError(f"{last} is a lambda: one expression, of which the source cannot be told from its neighbours")
    return found


def _inner(found: Any, last: str) -> Any:
    """Return what one layer is wrapped around, or None for the kernel."""
    if isinstance(found, staticmethod | classmethod | MethodType):
        return found.__func__
    if isinstance(found, property):
        return found.fget
    if isinstance(found, functools.cached_property | functools.partial | functools.partialmethod):
        return found.func
    if isinstance(found, functools.singledispatchmethod):
        return found.func
    wrapped = getattr(found, "__wrapped__", None)
    if wrapped is not None:
        return wrapped
    if isinstance(found, FunctionType) and found.__code__.co_name != last:
        return next(_enclosed(found, last), None)
    return None


def _enclosed(function: FunctionType, last: str) -> Iterator[FunctionType]:
    """Yield what a wrapper that forgot ``functools.wraps`` holds under the asked name."""
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        if isinstance(held, FunctionType) and held.__code__.co_name == last:
            yield held


def _why_not(found: Any, last: str) -> str:
    if isinstance(found, type):
        methods = [name for name, held in vars(found).items() if isinstance(held, FunctionType)]
        near = "forward" if "forward" in methods else methods[0] if methods else "method"
        return f'{last} is a class: name one of its functions, as in "{found.__module__}:{found.__qualname__}.{near}"'
    if callable(found):
        return f"{last} is a {type(found).__name__}: compiled, with no Python code to disarm"
    return f"{last} is a {type(found).__name__}, not a function"
