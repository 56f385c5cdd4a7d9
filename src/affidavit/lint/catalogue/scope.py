"""What names and expressions stand for inside of one function, and what a class lets others set."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from affidavit.lint.catalogue.definition import decorators
from affidavit.lint.catalogue.fields import annotated
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.source import Module, bindings, names_of, strings
from affidavit.lint.catalogue.thing import Class, Function, Init, Thing
from affidavit.names.signature import Parameter

_NOTHING = ast.parse("def __init__(self): ...").body[0]
assert isinstance(_NOTHING, ast.FunctionDef)
_OBJECT = Function(
    module=Module(name="builtins", path=Path(), is_package=False, tree=ast.Module([], []), text=""),
    node=_NOTHING,
    name="object.__init__",
    is_bound=True,
)


def callees(resolver: Resolver, function: Function, node: ast.expr) -> tuple[Thing, ...]:
    """What an expression that is called inside of a function stands for."""
    on, of = function.on or function.of, function.of
    if isinstance(node, ast.Attribute):
        if is_super(node.value) and node.attr == "__init__" and on is not None and of is not None:
            return (Init(on=on, line=resolver.after(on, of)),)
        if is_super(node.value):
            found = resolver.attribute(on, node.attr, after=of) if on is not None and of is not None else None
            if found is None:
                return (_OBJECT,) if node.attr in {"__init__", "__post_init__", "__init_subclass__"} else ()
            return (found,)
        first = _first(function)
        if isinstance(node.value, ast.Name) and node.value.id == first and on is not None:
            found = resolver.attribute(on, node.attr)
            return (found,) if found is not None else ()
        if ast.unparse(node.value) in {f"{first}.__class__", f"type({first})"} and on is not None:
            found = resolver.attribute(on, node.attr)
            return (found,) if found is not None else ()
        holders = resolver.value(function.module, node.value, scope=function.node)
        if node.attr == "__init__" and len(holders) == 1 and isinstance(holders[0], Class):
            return (Init(on=holders[0], line=resolver.line(holders[0])),)
        members = [one for holder in holders for one in resolver.member(holder, node.attr)]
        return tuple(members)
    if isinstance(node, ast.Name):
        is_method = function.of is not None and function.is_bound
        if is_method and node.id == _first(function) and on is not None and node.id == "cls":
            return (on,)
        return resolver.value(function.module, node, scope=function.node)
    return ()


def texts(resolver: Resolver, function: Function, node: ast.expr) -> list[str]:
    """The texts of a list that a module or a class holds."""
    if isinstance(node, ast.Name):
        return _assigned(function.module, node.id)
    if isinstance(node, ast.Attribute) and function.on is not None:
        for one in resolver.line(function.on):
            if isinstance(one, Class):
                for binding in bindings(one.node.body):
                    if node.attr in names_of(binding.node) and isinstance(binding.node, (ast.Assign, ast.AnnAssign)):
                        return strings(binding.node.value) if binding.node.value is not None else []
    return []


def unpacked(resolver: Resolver, function: Function, kwarg: ast.arg) -> Iterable[Parameter]:
    """The names of ``**kwargs: Unpack[SomeNames]``."""
    note = kwarg.annotation
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            note = ast.parse(note.value, mode="eval").body
        except SyntaxError:
            return ()
    if not isinstance(note, ast.Subscript) or not ast.unparse(note.value).endswith("Unpack"):
        return ()
    found: list[Parameter] = []
    for one in resolver.value(function.module, note.slice):
        if isinstance(one, Class):
            found += annotated(resolver, one).values()
    return found


def settable(resolver: Resolver, cls: Class) -> list[Parameter]:
    """What a class declares that a loop over ``setattr`` may set, so that somebody reads it."""
    found: dict[str, Parameter] = {}
    for one in resolver.line(cls):
        if not isinstance(one, Class):
            continue
        for binding in bindings(one.node.body):
            node = binding.node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [node.name] if any(name == "setter" for name, _ in decorators(node)) else []
            elif isinstance(node, ast.ClassDef):
                names = []
            else:
                names = [*names_of(node)]
                if "attribute_map" in names and isinstance(node, (ast.Assign, ast.AnnAssign)):
                    keys = node.value.keys if isinstance(node.value, ast.Dict) else []
                    names += [str(key.value) for key in keys if isinstance(key, ast.Constant)]
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    names.append(node.target.id)
            for name in names:
                found.setdefault(name, Parameter(name=name, owner=one.dotted))
    return list(found.values())


def is_super(node: ast.expr) -> bool:
    """Say whether an expression is ``super()``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _first(function: Function) -> str:
    arguments = (*function.node.args.posonlyargs, *function.node.args.args)
    return arguments[0].arg if arguments and function.of is not None and function.is_bound else ""


def _assigned(module: Module, name: str) -> list[str]:
    for binding in module.bound.get(name, ()):
        if isinstance(binding.node, (ast.Assign, ast.AnnAssign)) and binding.node.value is not None:
            return strings(binding.node.value)
    return []
