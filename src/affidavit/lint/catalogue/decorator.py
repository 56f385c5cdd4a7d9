"""What a decorator does to the names of what it wraps: nothing, further names, or nobody can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.source import Module
from affidavit.lint.catalogue.thing import Class, Function, FunctionNode

KEEPING = frozenset(
    {
        *("dataclass", "classmethod", "staticmethod", "property", "abstractmethod", "overload", "override", "final"),
        *("wraps", "cache", "lru_cache", "contextmanager", "asynccontextmanager", "runtime_checkable", "setter"),
        *("no_grad", "inference_mode", "enable_grad", "compile", "disable", "export", "deprecated"),
        *("add_start_docstrings", "add_end_docstrings", "add_start_docstrings_to_model_forward"),
        *("add_code_sample_docstrings", "replace_return_docstrings", "auto_docstring", "strict", "unique"),
        *("requires", "experimental", "custom_fwd", "custom_bwd", "total_ordering", "substitute_in_graph"),
        *("transmit_format", "fingerprint_transform", "_defaults_from_env_vars"),
        *("compatibility", "set_module", "dataclass_transform", "exposed_in"),
    }
)
"""Decorators, by their last name, that hand every argument on as it is."""
_OLD_NAMES = frozenset({"deprecate_kwarg", "deprecated_argument", "deprecate_argument", "rename_kwarg"})
_POPPED = re.compile(r"kwargs\.pop\([\"'](\w+)[\"']")
"""What ``validate_hf_hub_args`` takes out, with a warning, before it calls what it wraps."""


@dataclass(frozen=True, kw_only=True)
class Wrapping:
    """The names that a decorator takes besides, with what is said against each; ``why`` where it was not understood."""

    adds: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


_AS_IT_IS = Wrapping()


def wrapping(resolver: Resolver, module: Module, name: str, node: ast.expr, *, is_class: bool = False) -> Wrapping:
    """Return what one decorator does, told by its name, or by its own text where the name tells nothing."""
    if name in _OLD_NAMES and isinstance(node, ast.Call):
        return _renaming(node)
    if name in KEEPING:
        return _AS_IT_IS
    target = node.func if isinstance(node, ast.Call) else node
    found = resolver.value(module, target)
    definitions = [one for one in found if isinstance(one, (Function, Class))]
    if len(definitions) != 1 or len(found) != 1:
        return Wrapping(why=f"wrapped by {name}, which is not found")
    if isinstance(definitions[0], Class):
        return Wrapping(why=f"wrapped by {name}, a class")
    if name == "validate_hf_hub_args":
        text = definitions[0].module.text
        old = {"use_auth_token": "deprecated; now token"} if "use_auth_token" in text else {}
        return Wrapping(adds={**dict.fromkeys(_POPPED.findall(text), "deprecated and ignored"), **old})
    outer = definitions[0].node
    if is_class:
        return _AS_IT_IS if _leaves_init(outer) else Wrapping(why=f"changed by {name}")
    return _AS_IT_IS if _hands_on(outer) else Wrapping(why=f"wrapped by {name}")


def _renaming(node: ast.Call) -> Wrapping:
    """``@deprecate_kwarg("old", version="5.0", new_name="new")``, as Transformers and others write it."""
    told = {one.arg: one.value for one in node.keywords}
    positional = dict(zip(("old_name", "version", "new_name"), node.args, strict=False))
    given = {**positional, **{name: value for name, value in told.items() if name}}
    said = {key: _text(given.get(key)) for key in ("old_name", "version", "new_name")}
    if not said["old_name"]:
        return Wrapping(why="wrapped by deprecate_kwarg with computed names")
    if said["version"] and not said["version"][0].isdigit():  # others put the new name second
        said |= {"new_name": said["new_name"] or said["version"], "version": ""}
    text = f"deprecated, removed in {said['version']}" if said["version"] else "deprecated"
    return Wrapping(adds={said["old_name"]: f"{text}; now {said['new_name']}" if said["new_name"] else text})


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _hands_on(outer: FunctionNode) -> bool:
    """Say whether each function that a decorator makes calls the wrapped one with all that it was given.

    A use of its mapping of names other than that hand-over is a reason to doubt it.
    """
    inner = [node for node in ast.walk(outer) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    wrappers = [node for node in inner if node is not outer and node.args.kwarg is not None]
    if not wrappers:
        return not any(node is not outer for node in inner) and _returns_argument(outer)
    for node in wrappers:
        assert node.args.kwarg is not None
        name = node.args.kwarg.arg
        used = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name]
        handed = [
            keyword.value
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            for keyword in call.keywords
            if keyword.arg is None
        ]
        if not used or any(one not in handed for one in used) or node.args.args or node.args.kwonlyargs:
            first = {one.arg for one in node.args.args}
            if not used or any(one not in handed for one in used) or first - {"self", "cls"} or node.args.kwonlyargs:
                return False
    return True


def _returns_argument(outer: FunctionNode) -> bool:
    """``def register(fn): table.append(fn); return fn``."""
    names = {one.arg for one in outer.args.args}
    returned = [node.value for node in ast.walk(outer) if isinstance(node, ast.Return)]
    return bool(returned) and all(isinstance(one, ast.Name) and one.id in names for one in returned)


_ASKING = frozenset(
    {"issubclass", "isinstance", "hasattr", "getattr", "append", "add", "register", "dir", "vars", "warn", "debug"}
)


def _leaves_init(outer: FunctionNode) -> bool:
    """Say whether a class decorator gives back the class it was given, and hands it to nobody who may change it."""
    functions = [node for node in ast.walk(outer) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    given = {one.arg for node in functions for one in node.args.args}
    made = {node.name for node in functions if node is not outer}
    for node in ast.walk(outer):
        if isinstance(node, ast.Return) and not (isinstance(node.value, ast.Name) and node.value.id in given | made):
            return False
        if isinstance(node, ast.Attribute) and node.attr in {"__init__", "__new__"} and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.ClassDef) or (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in given
        ):
            return False
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] not in _ASKING:
            handed = (*node.args, *(one.value for one in node.keywords))
            if any(isinstance(one, ast.Name) and one.id in given for one in handed):
                return False
    return True
