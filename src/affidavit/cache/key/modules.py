"""Modules as code reaches them: by an import statement, by an attribute of a package, or by name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from affidavit.cache.key.naming import ABSENT
from affidavit.cache.key.reads import Import


def module_named(name: str) -> Any:
    """Return a module that the code would import on its first call, imported: its values are live ones."""
    found = sys.modules.get(name)
    if found is not None:
        return found
    try:
        return importlib.import_module(name)
    except ImportError:
        return ABSENT


def attribute_of(module: ModuleType, key: str) -> Any:
    """Return what a module holds under a name, be it a module inside it that nobody has imported yet."""
    found = getattr(module, key, ABSENT)
    return module_named(f"{module.__name__}.{key}") if found is ABSENT else found


def imported(wanted: Import, space: dict[str, Any]) -> tuple[Any, str]:
    """Return what an import statement binds in a module's space, and its full name."""
    name = wanted.module
    if wanted.level:
        package = str(space.get("__package__") or space.get("__name__") or "")
        try:
            name = importlib.util.resolve_name("." * wanted.level + name, package)
        except ImportError:
            return ABSENT, name
    found = module_named(name)
    if wanted.top and found is not ABSENT:
        name = name.partition(".")[0]
        found = sys.modules.get(name, found)
    return found, name


def file_of(name: str) -> str:
    """Return the file of a module, loaded or not, or "" where it has none."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None) or ""
    spec = importlib.util.find_spec(name.partition(".")[0]) if name else None
    return (spec.origin or "") if spec is not None else ""
