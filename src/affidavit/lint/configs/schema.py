"""Fields of an installed pydantic model, read from its text: names, aliases, and what becomes of any other key."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

_ALIASES = frozenset({"alias", "validation_alias"})
_BEFORE = frozenset({"model_validator", "root_validator"})
_ENDS = frozenset({"BaseModel", "object", "Generic", "ABC", "Protocol", "BaseSettings"})
_DEEPEST = 30


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a model takes.

    Args:
        names: its fields, their aliases, and every word that a validator looks at before the fields are filled.
        forbids: another key raises; otherwise it is ignored.
    """

    names: frozenset[str]
    forbids: bool


@dataclass
class _Found:
    names: set[str] = field(default_factory=set)
    extra: str = ""


def schema_of(callee: str, sites: Sequence[Path]) -> Schema | None:
    """Return what a model takes, None where it is not installed, keeps any key, or where a base was not found.

    Source: pydantic 2 (``extra``, ``alias``, ``validation_alias``, ``model_validator(mode="before")``).
    Blind to: fields that are added at run time (``create_model``); a module that takes part without being imported.
    """
    return _schema(callee, tuple(sites))


@lru_cache(maxsize=16)
def _schema(callee: str, sites: tuple[Path, ...]) -> Schema | None:
    module, _, name = callee.rpartition(".")
    found = _Found()
    is_whole = _collect(found, module, name, sites, 0)
    return Schema(names=frozenset(found.names), forbids=found.extra == "forbid") if is_whole else None


def _collect(found: _Found, module: str, name: str, sites: tuple[Path, ...], depth: int) -> bool:
    """Add the fields of a class and its bases; False where one of them cannot be read."""
    tree = _tree(module, sites)
    if tree is None or depth > _DEEPEST:
        return False
    class_ = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)
    if class_ is None:
        origin = _imported(tree, module, name, sites)
        return origin is not None and _collect(found, *origin, sites, depth + 1)
    for base in class_.bases:
        known = base.value if isinstance(base, ast.Subscript) else base
        if not isinstance(known, ast.Name | ast.Attribute):
            return False
        called = known.id if isinstance(known, ast.Name) else known.attr
        if called not in _ENDS and not _collect(found, module, called, sites, depth + 1):
            return False
    _add(found, class_)
    return found.extra != "allow"


def _add(found: _Found, class_: ast.ClassDef) -> None:
    for node in class_.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.names.add(node.target.id)
            found.names.update(_aliases(node.value))
        elif isinstance(node, ast.Assign) and any(_is_config(target) for target in node.targets):
            found.extra = _extra(node.value) or found.extra
        elif isinstance(node, ast.ClassDef) and node.name == "Config":
            found.extra = next(filter(None, map(_extra_of_class, node.body)), found.extra)
        elif isinstance(node, ast.FunctionDef) and any(map(_is_before, node.decorator_list)):
            found.names.update(_words(node))


def _aliases(value: ast.expr | None) -> Iterator[str]:
    """Yield the other names of a field: every string of ``alias=`` and ``validation_alias=``."""
    for call in ast.walk(value) if value is not None else ():
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                if keyword.arg in _ALIASES:
                    yield from _words(keyword.value)


def _words(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
            yield one.value


def _is_config(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "model_config"


def _extra(value: ast.expr) -> str:
    """Return what ``model_config`` says of other keys, "" where it says nothing, "allow" where that is no literal."""
    if isinstance(value, ast.Dict):
        pairs = [
            (key.value if isinstance(key, ast.Constant) else None, one) for key, one in zip(value.keys, value.values)
        ]
    elif isinstance(value, ast.Call):
        pairs = [(keyword.arg, keyword.value) for keyword in value.keywords]
    else:
        return "allow"
    given = [one for key, one in pairs if key == "extra"]
    if any(key is None for key, _ in pairs):
        return "allow"
    return _literal(given[-1]) if given else ""


def _extra_of_class(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "extra" for one in node.targets):
        return _literal(node.value)
    return ""


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "allow"


def _is_before(decorator: ast.expr) -> bool:
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return name in _BEFORE


def _imported(tree: ast.Module, module: str, name: str, sites: tuple[Path, ...]) -> tuple[str, str] | None:
    """Return the module and the name that an import binds."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _absolute(node, module, sites), alias.name
    return None


def _absolute(node: ast.ImportFrom, module: str, sites: tuple[Path, ...]) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + _is_package(module, sites)]
    return ".".join([*kept, node.module] if node.module else kept)


def _is_package(module: str, sites: tuple[Path, ...]) -> bool:
    file = _file(module, sites)
    return file is not None and file.name == "__init__.py"


def _file(module: str, sites: tuple[Path, ...]) -> Path | None:
    path = module.replace(".", "/")
    candidates = (site / found for site in sites for found in (f"{path}/__init__.py", f"{path}.py"))
    return next((one for one in candidates if one.is_file()), None)


@lru_cache(maxsize=256)
def _tree(module: str, sites: tuple[Path, ...]) -> ast.Module | None:
    file = _file(module, sites)
    if file is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
