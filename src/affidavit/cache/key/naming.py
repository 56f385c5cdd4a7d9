"""What things are called, wherever they lie and however they were reached, and what a reader is shown of them."""

from __future__ import annotations

import builtins
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ABSENT = object()
NOT_OF_A_CLASS = frozenset((
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__slots__",
    "_abc_impl", "__abstractmethods__", "__orig_bases__", "__parameters__", "__dataclass_fields__",
    "__dataclass_params__", "__signature__", "__slotnames__",
))  # fmt: skip
"""What Python keeps in a class beside what somebody wrote there."""


def lookup(space: dict[str, Any], name: str) -> tuple[Any, str]:
    """Return what a global name stands for, and the full name under which it stands."""
    if name not in space and hasattr(builtins, name):
        return getattr(builtins, name), f"builtins.{name}"
    return space.get(name, ABSENT), f"{module_name(space)}.{name}"


def module_name(space: dict[str, Any]) -> str:
    """Return a module's name; a script has that of its file, so that it is the same run or imported."""
    name = str(space.get("__name__") or "")
    if name != "__main__":
        return name
    spec = space.get("__spec__")
    if spec is not None:
        return str(spec.name)
    return Path(str(space.get("__file__") or "__main__")).stem


def called(value: Any) -> str:
    module = str(getattr(value, "__module__", None) or "builtins")
    if module == "__main__":
        module = module_name(vars(sys.modules["__main__"]))
    return f"{module}.{getattr(value, '__qualname__', value.__name__)}"


def is_natural(value: Any, name: str) -> bool:
    """Say whether a name leads to what is defined under it: then the code says all, and the name nothing more."""
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return False
    full = called(value)
    return full in (name, f"builtins.{name.rpartition('.')[2]}")


def layers(value: Any) -> Iterator[Any]:
    """Yield a function and the functions that it wraps."""
    for _ in range(32):
        yield value
        inner = getattr(value, "__func__", None) or getattr(value, "func", None) or getattr(value, "fget", None)
        inner = inner or getattr(value, "__wrapped__", None)
        if inner is None or inner is value:
            return
        value = inner


def unobserved(value: Any) -> Any:
    """Return what stood there before this run was observed: a key is the same with a witness and without."""
    while isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__"):
        module = str(value.__globals__.get("__name__") or "")
        if not module.startswith("affidavit.") or module.startswith("affidavit.cache"):
            break
        value = value.__wrapped__
    return value


def names_in(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= names_in(inner)
    return found


def words_for(value: Any, form: Any) -> str:
    if isinstance(value, (type, types.FunctionType)):
        return str(form[-1])
    if isinstance(value, (set, frozenset)):
        try:
            return f"{{{', '.join(map(repr, sorted(value)))}}}"
        except TypeError:
            return ""
    text = repr(value) if isinstance(value, (str, int, float, list, tuple, dict, bytes, Path)) or value is None else ""
    return "" if " at 0x" in text else text


def place_of(path: Path, project: Path) -> str:
    """Return how a file is called wherever the project lies; one that lies elsewhere has only its own name."""
    for base in (project, Path(os.path.realpath(project))):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return f"outside/{path.name}"


def within_site(file: str) -> str:
    """Return where a file lies among what is installed; one of an editable package has only its own name."""
    parts = file.replace(os.sep, "/").split("/")
    at = max((at for at, part in enumerate(parts) if part in ("site-packages", "dist-packages")), default=-1)
    return "/".join(parts[at + 1 :]) if at >= 0 else parts[-1]
