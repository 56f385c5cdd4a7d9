"""Which of a function's own files were edited after a cache entry was written: what most often has changed.

Blind to: a value that was set at run time, a file that it reads, a variable of the environment; an edit that kept the
file's time.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

_MOST = 200
"""So many objects are followed; a function that reaches the whole of a framework is not followed to its end."""
_FOREIGN = ("site-packages", "dist-packages")


def name_of(function: object) -> str:
    """Return what a reader calls a function: its module and its name, or the text that stands for one."""
    if isinstance(function, str):
        return function
    own = _inner(function)
    name = getattr(own, "__qualname__", None) or type(own).__qualname__
    module = getattr(own, "__module__", None) or type(own).__module__
    return str(name) if module in ("__main__", None) else f"{module}.{name}"


def edited(function: object, written: float) -> tuple[str, ...]:
    """Return the names of the files of a function, and of what it calls, that are newer than ``written``, Unix seconds.

    Files of installed packages are left out: an upgrade writes all of them.
    """
    if isinstance(function, str) or not written:
        return ()
    found = {file for file in _files(function) if _modified(file) > written}
    return tuple(sorted(os.path.basename(file) for file in found))  # noqa: PTH119  early: it must not cost an import


def _files(function: object) -> set[str]:
    files: set[str] = set()
    pending: list[Any] = [_inner(function)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST:
        item = pending.pop(0)
        if id(item) in seen:
            continue
        seen.add(id(item))
        file = _file(item)
        if file and _is_foreign(file):
            continue
        if file:
            files.add(file)
        pending += _reached(item)
    return files


def _reached(item: Any) -> Iterator[Any]:
    """Yield functions, classes and modules that an object names."""
    item = _inner(item)
    code = getattr(item, "__code__", None)
    if isinstance(code, CodeType):
        names = getattr(item, "__globals__", {})
        found = [names[name] for name in _names(code) if name in names]
        for cell in getattr(item, "__closure__", None) or ():
            try:
                found.append(cell.cell_contents)
            except ValueError:  # it is not filled yet
                continue
    elif isinstance(item, type):
        found = list(vars(item).values())
    elif isinstance(item, functools.partial):
        found = [item.func, *item.args, *item.keywords.values()]
    elif callable(item) and not isinstance(item, ModuleType):
        found = [type(item)]
    else:
        return
    for one in found:
        if callable(one) or isinstance(one, (ModuleType, type)):
            yield _inner(one)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _inner(item: Any) -> Any:
    for _ in range(8):
        if isinstance(item, functools.partial):
            item = item.func
        elif hasattr(item, "__func__"):
            item = item.__func__
        elif "__wrapped__" in getattr(item, "__dict__", {}):
            item = item.__wrapped__
        else:
            break
    return item


def _file(item: Any) -> str:
    module = item if isinstance(item, ModuleType) else sys.modules.get(str(getattr(item, "__module__", "")))
    file = getattr(module, "__dict__", {}).get("__file__")
    return file if isinstance(file, str) else ""


def _is_foreign(file: str) -> bool:
    return file.startswith(os.path.dirname(os.__file__)) or any(part in file for part in _FOREIGN)  # noqa: PTH120


def _modified(file: str) -> float:
    try:
        return os.stat(file).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0
