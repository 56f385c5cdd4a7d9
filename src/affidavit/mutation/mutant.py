"""Code objects that stand in a function's place: one for each way to disarm it, and one that tells who steps on it.

The new code is compiled from the function's own source, inside the class and with the free variables that it has, so
that it fits the closure that is there. The rest of the module is neither compiled nor executed again.

Blind to: a function that an import hook rewrote; its source is not what runs, and that is an error.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import hashlib
import linecache
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, MappingProxyType
from typing import Any

from affidavit.mutation.sites import sites
from affidavit.mutation.target import Target, TargetError

_FUTURE = functools.reduce(
    lambda flags, name: flags | int(getattr(__future__, name).compiler_flag), __future__.all_feature_names, 0
)
_KIND = 0x20 | 0x80 | 0x100 | 0x200
"""The flags of a code object that say generator, coroutine, iterable coroutine, asynchronous generator."""
_EMPTY: dict[type, Callable[[], object]] = {
    **{kind: kind for kind in (set, frozenset, dict, list, tuple)},
    MappingProxyType: lambda: MappingProxyType({}),
}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
SPARED = "pragma: no mutate"
"""In a comment on a line: its author says that no test can tell its disarms from it. mutmut reads the same words."""
_REACHED = "affidavit: here stands the tripwire"
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One way to disarm a function.

    Args:
        code: what stands in for the function's code, or None where ``table`` is emptied instead.
        table: where a constant is held, its name, and the empty one.
    """

    operator: str
    line: int
    column: int
    was: str
    becomes: str
    code: CodeType | None = None
    table: tuple[Any, str, object] | None = None


class Subject:
    """A function that can be disarmed.

    Raises:
        TargetError: its source is not there, or is not what runs.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        code = target.function.__code__
        self.file = code.co_filename
        linecache.checkcache(self.file)
        lines = linecache.getlines(self.file, target.function.__globals__)
        if not lines:
            raise TargetError(f"{target.name}: its source is not on disk ({self.file}), so nothing can be disarmed")
        try:
            self.node, classes = _defined("".join(lines), code.co_name, code.co_firstlineno)
        except SyntaxError as error:
            raise TargetError(f"{target.name}: {self.file} cannot be read: {error}") from error
        self.first, self.last = code.co_firstlineno, self.node.end_lineno or code.co_firstlineno
        self.source = textwrap.dedent("".join(lines[self.first - 1 : self.last]))
        self._tree = _enclosed(self.node, classes, code.co_freevars)
        self._tree.body[:0] = _imported("".join(lines), self.node)
        rewritten = type(target.function.__globals__.get("__loader__")).__name__ == "AssertionRewritingHook"
        if not rewritten and self._compiled().co_code != code.co_code:
            raise TargetError(
                f"{target.name}: {self.file} is not what runs; it was changed since, or an import hook rewrites it"
            )
        # What a mutant no longer reads, and a yield that is gone, must not change what kind of function it is.
        self.node.body.append(_keeper(code))
        self._base = self._compiled()

    @property
    def digest(self) -> str:
        """The SHA-256 of the function's source, decorators included, its indentation left out."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def runs_with(self, line: int) -> int:
        """Return the first line of the statement that a line belongs to: that one is seen to run where it does."""
        found = line
        for one in ast.walk(self.node):
            if isinstance(one, ast.stmt) and one is not self.node:
                body = getattr(one, "body", None)
                last = max(one.lineno, body[0].lineno - 1) if isinstance(body, list) and body else one.end_lineno
                if one.lineno <= line <= (last or one.lineno):
                    found = one.lineno
        return found

    def mutants(self) -> Iterator[Mutant]:
        """Yield every mutant that is not the function itself, or another mutant, by its byte code."""
        seen = {_essence(self._base)}
        for site in sites(self.node):
            if SPARED in linecache.getline(self.file, site.line):
                continue
            site.put()
            try:
                code = self._compiled()
            except SyntaxError:  # a place where this cannot stand
                continue
            finally:
                site.back()
            if (essence := _essence(code)) in seen:
                continue
            seen.add(essence)
            was, becomes = _text(site.was), _text(site.becomes)
            yield Mutant(site.operator, site.line, site.column, was, becomes, code=code)
        yield from self._tables()

    def tripwire(self, reached: Callable[[], BaseException]) -> CodeType:
        """Return code that calls ``reached`` and raises what it returns, in place of everything."""
        kept = self.node.body[:]
        sprung = ast.parse(f"raise {_REACHED!r}.__call__()").body[0]
        try:
            self.node.body[:] = [ast.fix_missing_locations(ast.copy_location(sprung, kept[0])), kept[-1]]
            code = self._compiled()
        finally:
            self.node.body[:] = kept
        consts = tuple(reached if one == _REACHED else one for one in code.co_consts)
        return code.replace(co_consts=consts)

    def _tables(self) -> Iterator[Mutant]:
        """Yield a mutant for each constant container, by its capitals, that the function reads from module or class."""
        done: set[tuple[int, str]] = set()
        for node in ast.walk(self.node):
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            holder, name = self._holder(node)
            if holder is None or name.upper() != name or (id(holder), name) in done:
                continue
            done.add((id(holder), name))
            value = holder.get(name) if isinstance(holder, dict) else vars(holder)[name]
            if type(value) in _EMPTY and value:
                empty = _EMPTY[type(value)]()
                yield Mutant("table", node.lineno, node.col_offset, name, repr(empty), table=(holder, name, empty))

    def _holder(self, node: ast.Name | ast.Attribute) -> tuple[Any, str]:
        """Return what holds a name of the function's: its module's globals, or the class it is read from."""
        if isinstance(node, ast.Name):
            return self.target.function.__globals__, node.id
        owner = self.target.owner
        if (
            owner is None
            or not isinstance(node.value, ast.Name)
            or node.value.id not in ("self", "cls", owner.__name__)
        ):
            return None, node.attr
        return next((base for base in owner.__mro__ if node.attr in vars(base)), None), node.attr

    def _compiled(self) -> CodeType:
        code = self.target.function.__code__
        flags = code.co_flags & _FUTURE
        whole = compile(self._tree, self.file, "exec", flags=flags, dont_inherit=True)
        found = _within(whole, code.co_name, code.co_firstlineno)
        if found is None or found.co_freevars != code.co_freevars or (found.co_flags ^ code.co_flags) & _KIND:
            raise SyntaxError("does not fit the closure")
        return found.replace(co_qualname=code.co_qualname)


@functools.lru_cache(maxsize=16)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _defined(source: str, name: str, first: int) -> tuple[Definition, tuple[str, ...]]:
    """Return a copy of the definition that begins at a line, and the innermost class around it."""
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(_parsed(source), ())]
    while waiting:
        node, classes = waiting.pop()
        if isinstance(node, Definition) and node.name == name and _first(node) == first:
            return copy.deepcopy(node), classes[-1:]
        inner = (*classes, node.name) if isinstance(node, ast.ClassDef) else classes
        waiting += ((below, inner) for below in ast.iter_child_nodes(node))
    raise TargetError(f'line {first} of its file no longer begins a function "{name}": the file was changed since')


def _first(node: Definition) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _enclosed(node: Definition, classes: tuple[str, ...], free: tuple[str, ...]) -> ast.Module:
    """Return a module in which the function has the same class around it and the same free variables."""
    inside: list[ast.stmt] = [node]
    for name in classes:
        inside = [ast.ClassDef(name=name, bases=[], keywords=[], body=inside, decorator_list=[], **_no_types())]
    bound = [name for name in free if name != "__class__"]
    if bound:
        outside = {classes[0] if classes else node.name} - set(bound)
        opening = "".join(f"    global {name}\n" for name in outside) + f"    {' = '.join(bound)} = None\n"
        outer = ast.parse(f"def __enclosing__():\n{opening}").body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body += inside
        inside = [outer]
    return ast.fix_missing_locations(ast.Module(body=inside, type_ignores=[]))


def _imported(source: str, node: Definition) -> list[ast.stmt]:
    """Return the imports of the module that the function reads: a call on an imported name compiles otherwise."""
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    names = sorted(read & _imports(source))
    return ast.parse("".join(f"import {name}\n" for name in names)).body


@functools.lru_cache(maxsize=16)
def _imports(source: str) -> frozenset[str]:
    """Return the names that imports bind in the module's own scope."""
    found: set[str] = set()
    waiting: list[ast.AST] = [_parsed(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif not isinstance(node, Definition | ast.ClassDef | ast.Lambda):
            waiting += (
                below for below in ast.iter_child_nodes(node) if isinstance(below, ast.stmt | ast.ExceptHandler)
            )
    return frozenset(found)


def _no_types() -> dict[str, Any]:
    return {"type_params": []} if "type_params" in ast.ClassDef._fields else {}


def _keeper(code: CodeType) -> ast.If:
    """Return a branch that is never compiled, and that the compiler still reads for names and for ``yield``."""
    names = "".join(f"    {name}\n" for name in code.co_freevars)
    yields = "    yield\n" if code.co_flags & (0x20 | 0x200) else ""
    kept = ast.parse(f"if 0:\n    pass\n{names}", mode="exec").body[0]
    assert isinstance(kept, ast.If)
    if yields:
        kept.body.append(ast.Expr(ast.Yield()))
    for node in ast.walk(kept):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = code.co_firstlineno  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    return kept


def _within(code: CodeType, name: str, first: int) -> CodeType | None:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_name == name and one.co_firstlineno == first:
                return one
            if (found := _within(one, name, first)) is not None:
                return found
    return None


def _essence(code: CodeType) -> tuple[object, ...]:
    """Return what two codes that do the same have in common; where their lines are is left out."""
    consts = tuple(_essence(one) if isinstance(one, CodeType) else (type(one), repr(one)) for one in code.co_consts)
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_exceptiontable


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.ExceptHandler):
        return "the handler's body"
    if isinstance(node, ast.cmpop):
        return _SIGNS.get(type(node), type(node).__name__)
    return " ".join(ast.unparse(node).split())
