"""Puts something else in the place of a thing that a function reads, for the length of a block, and puts it back.

A file of the user's is never written: whoever opens it gets a copy that lies elsewhere.

Source: hf-stack-spike §6: ``open`` and ``os.open`` are how Python code reads; the environment is a mapping.
Blind to: native code that opens a file by itself; it reads the file that is there.
"""

from __future__ import annotations

import builtins
import io
import os
import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

_MISSING = object()


@contextmanager
def attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Give a module another value under a name."""
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextmanager
def default(function: FunctionType, name: str, value: Any) -> Iterator[None]:
    """Let a parameter of a function have another default."""
    before = function.__defaults__, function.__kwdefaults__
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    own = dict(zip(reversed(names), reversed(before[0] or ())))
    if name in own:
        changed = {**own, name: value}
        function.__defaults__ = tuple(changed[each] for each in names if each in changed)
    else:
        function.__kwdefaults__ = {**(before[1] or {}), name: value}
    try:
        yield
    finally:
        function.__defaults__, function.__kwdefaults__ = before


@contextmanager
def variable(name: str, value: str | None) -> Iterator[None]:
    """Give an environment variable another value, or none."""
    before = os.environ.get(name)
    _set(name, value)
    try:
        yield
    finally:
        _set(name, before)


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


@contextmanager
def file(path: str, copy: str, opened: list[str] | None = None) -> Iterator[None]:
    """Let whoever opens ``path`` open ``copy``; ``opened`` gets a line each time."""
    wanted = os.path.realpath(path)

    def instead(name: Any) -> Any:
        if isinstance(name, (str, bytes, os.PathLike)) and os.path.realpath(os.fsdecode(name)) == wanted:
            if opened is not None:
                opened.append(wanted)
            return copy
        return name

    def opening(real: Any) -> Any:
        def open_instead(name: Any, *arguments: Any, **named: Any) -> Any:
            return real(instead(name), *arguments, **named)

        return open_instead

    accessor = getattr(pathlib, "_NormalAccessor", None)  # Python 3.10 keeps io.open under another name
    places: list[tuple[Any, str]] = [(builtins, "open"), (io, "open"), (os, "open")]
    before = [(owner, name, getattr(owner, name)) for owner, name in places]
    for owner, name, real in before:
        setattr(owner, name, opening(real))
    if accessor is not None:
        accessor.open = staticmethod(io.open)
    try:
        yield
    finally:
        for owner, name, real in before:
            setattr(owner, name, real)
        if accessor is not None:
            accessor.open = io.open
