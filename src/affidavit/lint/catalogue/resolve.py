"""From a dotted name to what it stands for: through re-exports, lazy structures, aliases and classes' bases."""

from __future__ import annotations

import ast
import builtins
import sys

from affidavit.lint.catalogue.definition import is_bound, is_overload, is_property
from affidavit.lint.catalogue.line import merged
from affidavit.lint.catalogue.source import Binding, Module, Sources, bindings, exports, names_of
from affidavit.lint.catalogue.thing import Class, Fields, Function, Opaque, Partial, Thing

_DEPTH = 40
_KEEPING = frozenset({"auto_class_update", "copy_func"})
"""Calls whose result takes the names that their first argument takes."""


class Resolver:
    """The names of some site folders."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._found: dict[tuple[str, str], tuple[Thing, ...]] = {}
        self._lines: dict[str, tuple[Class | Opaque, ...]] = {}
        self._exports: dict[str, dict[str, str]] = {}
        self._pending: set[tuple[str, str]] = set()

    def dotted(self, callee: str) -> tuple[Thing, ...]:
        """Return what a dotted name may stand for; several where branches define it differently."""
        head, *rest = callee.split(".")
        module = self.sources.module(head)
        if module is None:
            return ()
        found: tuple[Thing, ...] = (module,)
        for part in rest:
            found = unique(inner for one in found for inner in self.member(one, part))
        return found

    def member(self, thing: Thing, name: str) -> tuple[Thing, ...]:
        """Return an attribute of a module or a class."""
        if isinstance(thing, Module):
            return self.top(thing, name)
        if isinstance(thing, Class):
            found = self.attribute(thing, name)
            return (found,) if found is not None else ()
        if isinstance(thing, Opaque):
            return (thing,)
        return ()

    def top(self, module: Module, name: str) -> tuple[Thing, ...]:
        """Return what a name of a module stands for."""
        key = (module.name, name)
        if key in self._found:
            return self._found[key]
        if key in self._pending or len(self._pending) > _DEPTH:
            return ()
        self._pending.add(key)
        try:
            found = self._top(module, name)
        finally:
            self._pending.discard(key)
        self._found[key] = found
        return found

    def _top(self, module: Module, name: str) -> tuple[Thing, ...]:
        usual = [binding for binding in module.bound.get(name, ()) if not binding.fallback]
        for group in (usual, [binding for binding in module.bound.get(name, ()) if binding.fallback]):
            found = unique(one for binding in group for one in self._bound(module, binding, name))
            if found:
                return found
        if name in module.lazy:
            inner = self.sources.module(f"{module.name}.{module.lazy[name]}")
            if inner is not None and (found := self.top(inner, name)):
                return found
        for star in module.stars:
            if found := self._star(module.absolute(star), name):
                return found
        inner = self.sources.module(f"{module.name}.{name}") if module.is_package else None
        if inner is not None:
            return (inner,)
        return ()

    def _star(self, dotted: str, name: str) -> tuple[Thing, ...]:
        module = self.sources.module(dotted)
        if module is None:
            return ()
        if "define_import_structure(" in module.text and module.is_package:
            if dotted not in self._exports:
                self._exports[dotted] = exports(module.path.parent, dotted)
            listed = self._exports[dotted].get(name)
            inner = self.sources.module(listed) if listed else None
            return self.top(inner, name) if inner is not None else ()
        if name.startswith("_") or (module.exported is not None and name not in module.exported and not module.stars):
            return ()
        return self.top(module, name)

    def _bound(self, module: Module, binding: Binding, name: str) -> tuple[Thing, ...]:
        node = binding.node
        if isinstance(node, ast.ClassDef):
            return (Class(module=module, node=node, name=node.name),)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return () if is_overload(node) else (Function(module=module, node=node, name=node.name),)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self.imported(module, node, name)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            if isinstance(node.value, ast.Constant):
                return ()
            return self.value(module, node.value, beside=name)
        return ()

    def imported(self, module: Module, node: ast.Import | ast.ImportFrom, name: str) -> tuple[Thing, ...]:
        """Return what an import statement binds to a name."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                if (alias.asname or alias.name.partition(".")[0]) != name:
                    continue
                inner = self.sources.module(alias.name if alias.asname else name)
                return (inner,) if inner is not None else self._foreign(alias.name)
            if (alias.asname or alias.name) == name:
                dotted = module.absolute(node)
                source = self.sources.module(dotted)
                if source is None:
                    return self._foreign(dotted)
                if source is module:
                    inner = self.sources.module(f"{dotted}.{alias.name}")
                    return (inner,) if inner is not None else ()
                return self.top(source, alias.name)
        return ()

    def _foreign(self, dotted: str) -> tuple[Thing, ...]:
        head = dotted.partition(".")[0]
        if head in sys.stdlib_module_names:
            return (Opaque(why=f"{dotted} is part of Python", is_inert=True),)
        if self.sources.has_folder(dotted):
            return (Opaque(why=f"{dotted} is no Python text", is_inert=True),)
        return ()

    def value(
        self, module: Module, node: ast.expr, *, beside: str = "", scope: ast.AST | None = None
    ) -> tuple[Thing, ...]:
        """Return what an expression of a module stands for, as far as text shows it."""
        if isinstance(node, ast.Name):
            local = self._local(module, scope, node.id) if scope is not None else None
            return local if local is not None else (self.top(module, node.id) if node.id != beside else ())
        if isinstance(node, ast.Attribute):
            return unique(
                one for base in self.value(module, node.value, scope=scope) for one in self.member(base, node.attr)
            )
        if isinstance(node, ast.Subscript):
            return self.value(module, node.value, scope=scope)
        if isinstance(node, ast.IfExp):
            return unique((*self.value(module, node.body), *self.value(module, node.orelse)))
        if isinstance(node, ast.Call):
            return self._called(module, node, beside)
        return ()

    def _called(self, module: Module, node: ast.Call, beside: str) -> tuple[Thing, ...]:
        called = ast.unparse(node.func).rpartition(".")[2]
        if called == "partial" and node.args:
            given = tuple(keyword.arg for keyword in node.keywords if keyword.arg)
            inner = self.value(module, node.args[0])
            return tuple(Partial(of=one, given=given, positional=len(node.args) - 1) for one in inner)
        if called in {"namedtuple", "NamedTuple", "TypedDict"} and len(node.args) > 1:
            return (Fields(name=beside, names=tuple(_listed(node.args[1]))),)
        if called in _KEEPING:
            return ()  # X = auto_class_update(X): the class that stands above
        if called in {"classmethod", "staticmethod"} and node.args:
            return self.value(module, node.args[0])
        return (Opaque(why=f"made by a call of {called}"),)

    def _local(self, module: Module, scope: ast.AST, name: str) -> tuple[Thing, ...] | None:
        """A name that a function imports or defines itself; None where it does not bind it."""
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
            if any(one.arg == name for one in arguments):
                return (Opaque(),)
        for node in ast.walk(scope):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and name in names_of(node):
                return self.imported(module, node, name)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
                return (Opaque(),)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not scope and node.name == name:
                return (Opaque(),)
        return None

    def line(self, cls: Class) -> tuple[Class | Opaque, ...]:
        """Return a class and its bases in the order in which Python looks at them; Opaque where text ends."""
        known = self._lines.get(cls.dotted)
        if known is not None:
            return known
        self._lines[cls.dotted] = (cls,)  # a class that is its own base in broken text
        bases: list[tuple[Class | Opaque, ...]] = []
        for base in cls.node.bases:
            text = ast.unparse(base)
            if text.partition("[")[0].rpartition(".")[2] in _PLAIN:
                continue
            found = [one for one in self.value(cls.module, base, beside=cls.name) if isinstance(one, (Class, Opaque))]
            if not found and isinstance(base, ast.Name) and base.id == cls.name:
                continue
            first = found[0] if found else _baseless(text)
            bases.append(self.line(first) if isinstance(first, Class) else (first,))
        line = (cls, *merged(bases))
        self._lines[cls.dotted] = line
        return line

    def after(self, cls: Class, place: Class) -> tuple[Class | Opaque, ...]:
        """Return the bases of a class behind one of them, as ``super()`` looks at them there."""
        line = self.line(cls)
        places = [index for index, one in enumerate(line) if isinstance(one, Class) and one.dotted == place.dotted]
        return line[places[0] + 1 :] if places else self.line(place)[1:]

    def attribute(self, cls: Class, name: str, after: Class | None = None) -> Thing | None:
        """Return what a class has under a name, looked up over its bases; ``after`` a class, as ``super()`` does."""
        line = self.line(cls) if after is None else self.after(cls, after)
        for one in line:
            if isinstance(one, Opaque):
                return one
            found = self._own(one, name, cls)
            if found is not None:
                return found
        return None

    def _own(self, cls: Class, name: str, on: Class) -> Thing | None:
        found: Thing | None = None
        for binding in bindings(cls.node.body):
            node = binding.node
            if name not in names_of(node):
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if is_property(node):
                    found = Opaque(why=f"{cls.name}.{name} is a property")
                elif isinstance(found, Function) and binding.guarded:
                    found = Opaque(why=f"{cls.name}.{name} is defined twice")
                elif not is_overload(node):
                    found = Function(
                        module=cls.module, node=node, name=f"{cls.name}.{name}", of=cls, on=on, is_bound=is_bound(node)
                    )
            elif isinstance(node, ast.ClassDef):
                found = Class(module=cls.module, node=node, name=f"{cls.name}.{name}")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                beside = node.value.id if isinstance(node.value, ast.Name) else ""
                inner = self._own(cls, beside, on) if beside and beside != name else None
                values = (inner,) if inner is not None else self.value(cls.module, node.value)
                found = values[0] if values else Opaque(why=f"{cls.name}.{name} is a value")
        return found


_PLAIN = frozenset(
    {
        *("object", "Generic", "Protocol", "ABC", "NamedTuple", "TypedDict", "Iterable", "Iterator", "Sized"),
        *("Hashable", "Callable", "Collection", "Container", "Awaitable"),
    }
)
"""Bases that take nothing by name, or whose construction is known."""


def unique(things: object) -> tuple[Thing, ...]:
    """Return things without those that are the same definition."""
    found: dict[object, Thing] = {}
    for one in things:  # type: ignore[attr-defined]
        if isinstance(one, (Class, Function)):
            key: object = (one.module.name, one.node.lineno)
        else:
            key = one if isinstance(one, Opaque) else id(one)
        found.setdefault(key, one)
    return tuple(found.values())


def _listed(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace(",", " ").split()
    if isinstance(node, ast.Dict):
        return [str(key.value) for key in node.keys if isinstance(key, ast.Constant)]
    found: list[str] = []
    for one in getattr(node, "elts", ()):
        first = one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one
        if isinstance(first, ast.Constant):
            found.append(str(first.value))
    return found


def _baseless(text: str) -> Opaque:
    if hasattr(builtins, text):
        return Opaque(why=f"built as {text} is", is_inert=True)
    return Opaque(why=f"its base {text} is not found")
