"""What a name in a script can stand for, as far as the text says it for certain."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.lint.request import Given

if TYPE_CHECKING:
    from affidavit.lint.scripts.build import Build
    from affidavit.lint.scripts.source import Source

SHOWN = 60


class Value:
    """Something that nothing is known of; what is known of is one of the kinds below."""

    __slots__ = ()


UNKNOWN = Value()


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A literal: text, a number, None, True."""

    value: object


@dataclass(frozen=True, slots=True)
class Installed(Value):
    """A module, class or function that is not the project's, by its dotted name."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Lazy(Value):
    """A name of another file of the project, not yet looked up; the file itself where ``name`` is ""."""

    source: Source
    name: str


@dataclass(frozen=True, slots=True)
class Ref(Value):
    """A dict that the text builds; its names are in the state, under this number."""

    number: int


@dataclass(frozen=True, slots=True)
class Items(Value):
    """A tuple or list that is written out."""

    items: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class Frame:
    """The names of one scope; ``guard`` holds for all that still follows, ``shared`` belong to a scope outside."""

    source: Source
    outer: Frame | None
    names: dict[str, Value] = field(default_factory=dict)
    is_class: bool = False
    owner: Class | None = None
    guard: str = ""
    shared: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Function(Value):
    """A function of the project, the scope it is written in, and the class, where it is a method."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    frame: Frame
    owner: Class | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Class(Value):
    """A class of the project, its bases, the names of its body, and its lineage once that was asked for."""

    node: ast.ClassDef
    source: Source
    bases: tuple[Value, ...]
    body: dict[str, Value]
    above: list[Lineage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class and those of the project above it, the installed ones above those, and whether that is all."""

    own: tuple[Class, ...]
    installed: tuple[str, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Super(Value):
    """``super()`` inside a method of a class."""

    owner: Class


@dataclass(frozen=True, slots=True)
class Method(Value):
    """An attribute of a value of ours that is about to be called."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Bound(Value):
    """A function of the project with its first argument."""

    function: Function
    first: Value


@dataclass(frozen=True, slots=True)
class Partial(Value):
    """A callable that has some of its names already."""

    function: Value


@dataclass(frozen=True, slots=True)
class Instance(Value):
    """An object of an installed class; ``is_exact`` where a subclass cannot stand behind it."""

    of: str
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Object(Value):
    """An object of a class of the project; ``build`` is the parser that filled it."""

    of: Class
    build: Build | None = None


@dataclass(frozen=True, slots=True)
class Parsing(Value):
    """A parser."""

    build: Build
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Namespace(Value):
    """What a parser made of the command line."""

    build: Build


@dataclass(frozen=True, slots=True)
class Leftover(Value):
    """What a parser did not know."""

    build: Build


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of a dict: where it was written, its value, and the guard under which it was.

    ``since`` is the condition after which it is there on some paths only, 0 where it is there on all.
    """

    name: str
    path: Path
    line: int
    node: ast.expr | None
    value: Value
    guard: str = ""
    since: int = 0


Names = dict[str, Entry]


def shown(node: ast.expr | None) -> str:
    """Return the source text of a literal, shortened; "" where it is none."""
    if isinstance(node, ast.Constant):
        return repr(node.value)[:SHOWN]
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ast.unparse(node)[:SHOWN]
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) < SHOWN and all(shown(one) for one in node.elts):
        return ast.unparse(node)[:SHOWN]
    return ""


def given(entry: Entry, inside: tuple[Given, ...], *, is_open: bool = False) -> Given:
    """Return the entry as readers hand it on."""
    value = shown(entry.node)
    return Given(name=entry.name, path=entry.path, line=entry.line, value=value, inside=inside, is_open=is_open)
