"""What a dotted name stands for: a module, a class, a function, a partial, or something that text does not show."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from affidavit.lint.catalogue.source import Module

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Class:
    module: Module
    node: ast.ClassDef
    name: str

    @property
    def dotted(self) -> str:
        return f"{self.module.name}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function; ``of`` is the class that defines it and ``on`` the class that it was looked up on."""

    module: Module
    node: FunctionNode
    name: str
    of: Class | None = None
    on: Class | None = None
    is_bound: bool = False

    @property
    def dotted(self) -> str:
        return f"{self.module.name}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class Partial:
    """``functools.partial(of, ...)``: names that it gives already may be given again."""

    of: Thing
    given: tuple[str, ...] = ()
    positional: int = 0


@dataclass(frozen=True, kw_only=True)
class Fields:
    """A named tuple or a typed mapping that a call makes: its names."""

    name: str
    names: tuple[str, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """Something that is there and that text does not show, and why where that is known."""

    why: str = ""
    is_inert: bool = False
    """Whether it is part of Python or of an extension, and so makes no dataclass and changes no constructor."""


@dataclass(frozen=True, kw_only=True)
class Init:
    """The ``__init__`` that is found on a class from some base on; a dataclass has one that no text shows."""

    on: Class
    line: tuple[Class | Opaque, ...]


Thing = Module | Class | Function | Partial | Fields | Opaque | Init
