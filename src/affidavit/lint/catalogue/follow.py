"""Where the names of ``**kwargs`` go inside one function: read there, handed on, kept, or lost from sight."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from affidavit.lint.catalogue.read import source_of
from affidavit.lint.catalogue.source import strings
from affidavit.lint.catalogue.thing import FunctionNode
from affidavit.names.signature import REQUIRED

_READS = frozenset({"pop", "get", "setdefault", "__getitem__", "__contains__"})
_LOGS = frozenset({"warn", "warning", "warning_once", "info", "debug", "error", "print", "format", "rank_zero_warn"})
_COPIES = frozenset({"copy", "deepcopy", "dict"})
_HARMLESS = frozenset({"len", "bool", "str", "repr"})
_BAGS = frozenset({"init_kwargs", "_init_kwargs", "__dict__"})


class End(enum.Enum):
    """What one use does with the names that nobody has read."""

    KEPT = "kept"
    SET = "set on the object"
    LOST = "lost"


@dataclass(frozen=True, kw_only=True)
class Handed:
    """``call(**kwargs)``, or ``call(kwargs)`` with ``bag`` the place of the argument."""

    call: ast.Call
    bag: int = -1


@dataclass(kw_only=True)
class Uses:
    """All that one function does with the names of a mapping."""

    read: dict[str, str] = field(default_factory=dict)
    handed: list[Handed] = field(default_factory=list)
    ends: list[tuple[End, str]] = field(default_factory=list)
    refused: list[ast.If] = field(default_factory=list)
    """Branches that raise where anything is left over."""

    def end(self, end: End, why: str) -> None:
        self.ends.append((end, why))


def uses_of(function: FunctionNode, name: str, constant: Callable[[ast.expr], list[str]]) -> Uses:
    """Return what a function does with the mapping ``name``.

    ``constant`` gives the texts of a list that is defined outside of the function. A use that is not recognised ends
    as LOST: nothing is concluded from it.
    """
    return _Scan(function, name, constant).uses


class _Scan:
    def __init__(self, function: FunctionNode, name: str, constant: Callable[[ast.expr], list[str]]) -> None:
        self.function = function
        self.constant = constant
        self.uses = Uses()
        self.parents: dict[ast.AST, ast.AST] = {
            child: parent for parent in ast.walk(function) for child in ast.iter_child_nodes(parent)
        }
        self.aliases = {name}
        assigns = [node for node in ast.walk(function) if isinstance(node, (ast.Assign, ast.AnnAssign))]
        for _ in range(3):
            for made in assigns:
                if made.value is not None and self._is_copy(made.value):
                    self.aliases |= {one.id for one in _targets(made) if isinstance(one, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in self.aliases and isinstance(node.ctx, ast.Load):
                self._use(node)

    def _is_copy(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.aliases
        if isinstance(node, ast.Dict):
            return any(key is None and self._is_copy(value) for key, value in zip(node.keys, node.values, strict=True))
        if isinstance(node, ast.BoolOp):
            return self._is_copy(node.values[0])
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in _COPIES:
                return False
            if isinstance(node.func, ast.Attribute) and self._is_copy(node.func.value):
                return True
            given = [*node.args, *(one.value for one in node.keywords if one.arg is None)]
            return any(self._is_copy(one) for one in given)
        return False

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def _is_told_only(self, node: ast.AST) -> bool:
        for above in self._above(node):
            if isinstance(above, (ast.Raise, ast.JoinedStr, ast.Delete, ast.Assert)):
                return True
            if isinstance(above, ast.Call) and _called(above) in _LOGS:
                return True
            if isinstance(above, ast.stmt):
                return False
        return False

    def _use(self, node: ast.Name) -> None:
        above = self.parents[node]
        if self._is_told_only(node):
            return
        if isinstance(above, ast.Attribute):
            self._method(above)
        elif isinstance(above, ast.Subscript) and above.value is node:
            self._named(above.slice, None)
        elif isinstance(above, ast.keyword) and above.arg is None:
            call = self.parents[above]
            if isinstance(call, ast.Call) and not self._is_copied(call):
                self.uses.handed.append(Handed(call=call))
        elif isinstance(above, ast.Compare) and node in above.comparators:
            self._named(above.left, None)
        elif isinstance(above, ast.Call):
            self._argument(above, node)
        elif isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
            self._looped(above)
        elif isinstance(above, (ast.Assign, ast.AnnAssign, ast.Dict, ast.BoolOp)) and self._is_copied(node):
            return
        elif isinstance(above, (ast.Assign, ast.AnnAssign)):
            self._stored(above)
        else:
            self._tested(node)

    def _is_copied(self, node: ast.expr) -> bool:
        """Say whether the use is a copy under a name that is looked at as well."""
        child: ast.AST = node
        for above in self._above(node):
            if isinstance(above, (ast.Assign, ast.AnnAssign)):
                names = [one for one in _targets(above) if isinstance(one, ast.Name)]
                return bool(names) and above.value is child and self._is_copy(above.value)
            if not isinstance(above, ast.expr):
                if isinstance(above, ast.keyword):
                    continue
                return False
            child = above
        return False

    def _method(self, attribute: ast.Attribute) -> None:
        call = self.parents[attribute]
        if not isinstance(call, ast.Call) or call.func is not attribute:
            self.uses.end(End.LOST, f"kwargs.{attribute.attr}")
        elif attribute.attr in _READS:
            self._named(call.args[0] if call.args else None, call.args[1] if len(call.args) > 1 else None)
        elif attribute.attr in {"keys", "items", "values"}:
            loop = self.parents[call]
            if isinstance(loop, (ast.For, ast.comprehension)) and loop.iter is call:
                self._looped(loop)
            elif isinstance(loop, ast.Compare) and attribute.attr == "keys":
                self._named(loop.left, None)
            elif isinstance(loop, ast.Call) and isinstance(self.parents[loop], ast.For) and _called(loop) == "list":
                self._looped(self.parents[loop])
            elif not self._is_told_only(call):
                self.uses.end(End.LOST, f"kwargs.{attribute.attr}()")
        elif attribute.attr == "copy":
            if not self._is_copied(call):
                self.uses.end(End.LOST, "a copy of kwargs")
        elif attribute.attr not in {"update", "clear"}:
            self.uses.end(End.LOST, f"kwargs.{attribute.attr}()")

    def _named(self, key: ast.expr | None, default: ast.expr | None) -> None:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            text = source_of(default) if default is not None else REQUIRED
            if not self.uses.read.get(key.value):
                self.uses.read[key.value] = text
            return
        names = self._values_of(key) if isinstance(key, ast.Name) else []
        if names:
            self.uses.read.update(dict.fromkeys((name for name in names if name not in self.uses.read), REQUIRED))
        elif isinstance(key, ast.Name) and self._is_own_key(key):
            return  # a loop over the mapping itself is judged as a loop
        else:
            self.uses.end(End.LOST, "read by a name that is computed")

    def _values_of(self, key: ast.Name) -> list[str]:
        """The texts that a loop variable takes, where they are written out."""
        for node in ast.walk(self.function):
            if isinstance(node, (ast.For, ast.comprehension)) and _binds(node.target, key.id):
                found = self._texts(node.iter)
                if found:
                    return found
        return []

    def _texts(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Name):
            for one in ast.walk(self.function):
                if isinstance(one, ast.Assign) and any(_binds(target, node.id) for target in one.targets):
                    return strings(one.value)
            return self.constant(node)
        if isinstance(node, ast.Attribute):
            return self.constant(node)
        return strings(node)

    def _is_own_key(self, key: ast.Name) -> bool:
        for node in ast.walk(self.function):
            if isinstance(node, (ast.For, ast.comprehension)) and _binds(node.target, key.id):
                return any(isinstance(one, ast.Name) and one.id in self.aliases for one in ast.walk(node.iter))
        return False

    def _looped(self, loop: ast.AST) -> None:
        if isinstance(loop, ast.For):
            calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)]
            if any(_called(call) in {"setattr", "__setattr__"} for call in calls):
                self.uses.end(End.SET, "set on the object")
                return
            if all(_is_telling(node) for node in loop.body):
                return
        self.uses.end(End.LOST, "looked through by a loop")

    def _argument(self, call: ast.Call, node: ast.Name) -> None:
        called = _called(call)
        if called in _HARMLESS:
            self._tested(call)
        elif called == "update" and isinstance(call.func, ast.Attribute):
            into = call.func.value
            name = into.id if isinstance(into, ast.Name) else getattr(into, "attr", "")
            if name in self.aliases:
                return
            kept = name in _BAGS or (isinstance(into, ast.Call) and _called(into) == "vars")
            self.uses.end(End.SET if kept else End.LOST, f"put into {ast.unparse(into)}")
        elif called in _COPIES:
            if not self._is_copied(call):
                self._stored(self.parents[call])
        elif node in call.args and not any(isinstance(one, ast.Starred) for one in call.args):
            self.uses.handed.append(Handed(call=call, bag=call.args.index(node)))
        else:
            self.uses.end(End.LOST, f"handed to {ast.unparse(call.func)}")

    def _stored(self, statement: ast.AST) -> None:
        names = [getattr(one, "attr", "") for one in _targets(statement)]
        if names and all(name in _BAGS for name in names):
            self.uses.end(End.KEPT, f"kept in {names[0]}")
        else:
            self.uses.end(End.LOST, f"kept in {names[0]}" if names and names[0] else "kept elsewhere")

    def _tested(self, node: ast.AST) -> None:
        """``if kwargs:``, by itself or negated."""
        above = self.parents[node]
        child = node
        while isinstance(above, ast.Compare) or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)):
            child, above = above, self.parents[above]
        if isinstance(above, ast.If) and above.test is child and child is not node and isinstance(child, ast.UnaryOp):
            return
        if isinstance(above, ast.If) and above.test is child:
            if isinstance(above.body[-1], ast.Raise):
                self.uses.refused.append(above)
            elif not all(_is_telling(one) for one in above.body) and not self._is_used_inside(above):
                self.uses.end(End.LOST, "a branch that depends on it")
        elif isinstance(above, ast.Return):
            self.uses.end(End.LOST, "returned")
        else:
            self.uses.end(End.LOST, f"used in {ast.unparse(above)[:60]}")

    def _is_used_inside(self, branch: ast.If) -> bool:
        """Say whether the branch itself is about the mapping: its uses are judged one by one."""
        return any(isinstance(n, ast.Name) and n.id in self.aliases for one in branch.body for n in ast.walk(one))


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return list(node.targets)
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(target))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_telling(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) in _LOGS
    )
