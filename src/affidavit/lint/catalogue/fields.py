"""The names that a generated ``__init__`` takes: those of dataclasses, named tuples and typed mappings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from affidavit.lint.catalogue.definition import decorators
from affidavit.lint.catalogue.deprecation import said_in_docstring, said_in_help, said_in_warnings
from affidavit.lint.catalogue.read import CALLED, source_of
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.source import bindings
from affidavit.lint.catalogue.thing import Class, Function
from affidavit.names.signature import REQUIRED, Parameter

_MAKERS = frozenset({"dataclass", "pydantic_dataclass"})
_FIELDS = frozenset({"field", "Field"})


def is_dataclass(cls: Class) -> bool:
    """Say whether a class is decorated as one, and gets an ``__init__`` by that."""
    for name, node in decorators(cls.node):
        if name in _MAKERS:
            told = {one.arg: one.value for one in node.keywords} if isinstance(node, ast.Call) else {}
            init = told.get("init")
            return not (isinstance(init, ast.Constant) and init.value is False)
    return False


def makes_dataclasses(resolver: Resolver, cls: Class) -> bool:
    """Say whether a base turns every class below it into a dataclass when it is defined."""
    hook = resolver.attribute(cls, "__init_subclass__")
    if not isinstance(hook, Function) or hook.of is None or hook.of.dotted == cls.dotted:
        return False
    return any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in _MAKERS
        and node.args
        and isinstance(node.args[0], ast.Name)
        for node in ast.walk(hook.node)
    )


def fields(resolver: Resolver, cls: Class) -> dict[str, Parameter]:
    """Return the fields that ``__init__`` takes, over all bases, in the order of a dataclass.

    Source: the order of ``dataclasses.fields``: bases first, a field that is declared again keeps its place.
    Blind to: fields that code adds to the annotations.
    """
    found: dict[str, Parameter] = {}
    made = makes_dataclasses(resolver, cls)
    line = [one for one in resolver.line(cls) if isinstance(one, Class)]
    for one in reversed(line):
        if not is_dataclass(one) and not (made and makes_dataclasses(resolver, one)):
            continue
        for node in _annotated(one):
            assert isinstance(node.target, ast.Name)
            name = node.target.id
            default, takes = _default(node.value)
            if not takes:
                found.pop(name, None)
                continue
            found[name] = Parameter(name=name, default=default, owner=one.dotted, deprecated=said_in_help(node, name))
    for one in line:
        told = {**said_in_docstring(one, found), **said_in_warnings(one, found)}
        for name, text in told.items():
            parameter = found[name]
            if not parameter.deprecated:
                found[name] = Parameter(name=name, default=parameter.default, owner=parameter.owner, deprecated=text)
    return found


def annotated(resolver: Resolver, cls: Class) -> dict[str, Parameter]:
    """Return every annotated name of a class and its bases, as typed mappings and named tuples take them."""
    found: dict[str, Parameter] = {}
    for one in reversed(resolver.line(cls)):
        if isinstance(one, Class):
            for node in _annotated(one):
                assert isinstance(node.target, ast.Name)
                found[node.target.id] = Parameter(name=node.target.id, default=source_of(node.value), owner=one.dotted)
    return found


def _annotated(cls: Class) -> Iterator[ast.AnnAssign]:
    for binding in bindings(cls.node.body):
        node = binding.node
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        kind = ast.unparse(node.annotation).partition("[")[0].rpartition(".")[2]
        if kind not in {"ClassVar", "KW_ONLY"}:
            yield node


def _default(value: ast.expr | None) -> tuple[str, bool]:
    """The text of a default, and whether ``__init__`` takes the field."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _FIELDS:
        told = {one.arg: one.value for one in value.keywords}
        init = told.get("init")
        takes = not (isinstance(init, ast.Constant) and init.value is False)
        if "default" in told:
            return source_of(told["default"]), takes
        if "default_factory" in told:
            factory = told["default_factory"]
            inner = factory.body if isinstance(factory, ast.Lambda) else None
            return (source_of(inner) if inner is not None else f"{ast.unparse(factory)}{CALLED}"), takes
        return REQUIRED, takes
    return source_of(value), True
