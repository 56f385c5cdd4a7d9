"""The names of a callable, read from the text of its definition and of all that its ``**kwargs`` go to."""

from __future__ import annotations

import ast
from dataclasses import replace

from affidavit.lint.catalogue.decorator import Wrapping, wrapping
from affidavit.lint.catalogue.definition import decorators
from affidavit.lint.catalogue.deprecation import said_in_docstring, warned
from affidavit.lint.catalogue.fields import annotated, fields, is_dataclass, makes_dataclasses
from affidavit.lint.catalogue.follow import End, Handed, Uses, uses_of
from affidavit.lint.catalogue.path import surely
from affidavit.lint.catalogue.read import Read, either, opaque, source_of
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.scope import callees, is_super, settable, texts, unpacked
from affidavit.lint.catalogue.source import bindings, names_of
from affidavit.lint.catalogue.thing import Class, Fields, Function, Init, Opaque, Partial, Thing
from affidavit.names.signature import Parameter, Rest

_DEPTH = 14
_ITSELF = "it calls itself"
_TOO_DEEP = "too many calls to follow"
_METACLASSES = frozenset({"ABCMeta", "type", "EnumMeta"})
_MAKING = frozenset({"__call__", "__new__", "__init__", "__setattr__"})


class Reader:
    """Reads things that a resolver found; a thing is read once."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._known: dict[tuple[str, ...], Read] = {}
        self._pending: list[tuple[str, ...]] = []
        self._tops: dict[tuple[str, ...], set[str]] = {}
        self.touched: set[str] = set()
        """The top-level modules that the reads since it was last emptied rest on."""

    def read(self, thing: Thing) -> Read:
        """Return the names that calling a thing takes."""
        if isinstance(thing, Class):
            return self._once(("class", thing.dotted), lambda: self._class(thing))
        if isinstance(thing, Function):
            on = thing.on.dotted if thing.on is not None else ""
            key = ("function", thing.dotted, str(thing.node.lineno), on, str(thing.is_bound))
            return self._once(key, lambda: self._function(thing))
        if isinstance(thing, Partial):
            inner = self.read(thing.of)
            return inner.without(inner.positional[: thing.positional])
        if isinstance(thing, Fields):
            return Read(parameters={name: Parameter(name=name, owner=thing.name) for name in thing.names})
        if isinstance(thing, Init):
            start = next((one.dotted for one in thing.line if isinstance(one, Class)), "")
            return self._once(("init", thing.on.dotted, start), lambda: self._constructed(thing.on, thing.line))
        return opaque(thing.why if isinstance(thing, Opaque) else "a module")

    def _once(self, key: tuple[str, ...], read: object) -> Read:
        if key in self._known:
            self.touched |= self._tops[key]
            return self._known[key]
        if key in self._pending:
            return opaque(_ITSELF)
        if len(self._pending) >= _DEPTH:
            return opaque(_TOO_DEEP)
        self._pending.append(key)
        before, self.touched = self.touched, {key[1].partition(".")[0]}
        try:
            found: Read = read()  # type: ignore[operator]
        finally:
            self._pending.pop()
            mine, self.touched = self.touched, self.touched | before
        if not self._pending or not _is_cut(found):
            self._known[key], self._tops[key] = found, mine
        return found

    # ---- classes

    def _class(self, cls: Class) -> Read:
        for one in self.resolver.line(cls):
            if isinstance(one, Class):
                self.touched.add(one.module.name.partition(".")[0])
                if why := self._strange(one):
                    return opaque(why)
        found = self._constructed(cls, self.resolver.line(cls))
        unseen = [one.why for one in self.resolver.line(cls) if isinstance(one, Opaque) and not one.is_inert]
        return found.opened(unseen[0]) if unseen else found

    def _constructed(self, cls: Class, line: tuple[Class | Opaque, ...]) -> Read:
        """What the first constructor of a line takes."""
        passed: list[Class] = []
        bases: set[str] = set()
        for one in line:
            if isinstance(one, Opaque):
                return opaque(one.why)
            passed.append(one)
            self.touched.add(one.module.name.partition(".")[0])
            bases |= {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in one.node.bases}
            found = self._made(cls, one)
            if found is not None:
                return self._decorated_classes(found, passed)
        if bases & {"NamedTuple", "TypedDict"}:
            return Read(parameters=annotated(self.resolver, cls))
        return self._decorated_classes(Read(why="takes nothing"), passed)

    def _made(self, cls: Class, one: Class) -> Read | None:
        """What one class of the line says of construction; None where it says nothing."""
        own = [name for binding in bindings(one.node.body) for name in names_of(binding.node)]
        if "__init__" in own:
            init = self.resolver.attribute(one, "__init__")
            if not isinstance(init, Function):
                return opaque(f"__init__ of {one.name} is a value")
            return self.read(replace(init, on=cls))
        by_base = makes_dataclasses(self.resolver, one)
        if is_dataclass(one) or by_base:
            return self._dataclass(cls, one, by_base=by_base)
        if "__new__" in own:
            new = self.resolver.attribute(one, "__new__")
            return self.read(replace(new, on=cls)) if isinstance(new, Function) else opaque("__new__ is a value")
        return None

    def _dataclass(self, cls: Class, one: Class, *, by_base: bool) -> Read:
        parameters = fields(self.resolver, one)
        found = Read(parameters=parameters, positional=tuple(parameters))
        if not by_base and not any(name == "strict" and _accepts(node) for name, node in decorators(one.node)):
            return found
        after = self.resolver.attribute(cls, "__post_init__")
        if not isinstance(after, Function):
            return found.opened("its base changes __init__")
        rest = self.read(replace(after, on=cls))
        return replace(found.added(rest.parameters.values()), rest=rest.rest, why=rest.why)

    def _strange(self, cls: Class) -> str:
        """Why a class may take other names than its text says: its metaclass, or a hook of its bases."""
        for keyword in cls.node.keywords:
            if keyword.arg == "metaclass":
                name = ast.unparse(keyword.value).rpartition(".")[2]
                if name in _METACLASSES:
                    continue
                found = self.resolver.value(cls.module, keyword.value)
                if len(found) != 1 or not isinstance(found[0], Class):
                    return f"its metaclass {name} is not found"
                own = {one for binding in bindings(found[0].node.body) for one in names_of(binding.node)}
                if own & _MAKING:
                    return f"its metaclass {name} makes it"
        for binding in bindings(cls.node.body):
            node = binding.node
            if isinstance(node, ast.FunctionDef) and node.name == "__init_subclass__" and _changes_init(node):
                return f"{cls.name} changes the classes below it"
        return ""

    def _decorated_classes(self, found: Read, classes: list[Class]) -> Read:
        for one in classes:
            for name, node in decorators(one.node):
                around = wrapping(self.resolver, one.module, name, node, is_class=True)
                if around.why:
                    found = found.opened(around.why)
        return found

    # ---- functions

    def _function(self, function: Function) -> Read:
        arguments = function.node.args
        plain = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        drop = 1 if function.is_bound and plain else 0
        makes = function.name.endswith(("__init__", "__new__", "__post_init__")) and function.of is not None
        owner = function.of.dotted if makes and function.of is not None else function.dotted
        defaults = dict(zip(reversed(plain), reversed(arguments.defaults), strict=False))
        parameters: dict[str, Parameter] = {}
        for one in arguments.args[max(0, drop - len(arguments.posonlyargs)) :]:
            text = source_of(defaults.get(one.arg))
            parameters[one.arg] = Parameter(name=one.arg, default=text, owner=owner)
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            parameters[one.arg] = Parameter(name=one.arg, default=source_of(value), owner=owner)
        found = Read(parameters=parameters, positional=tuple(plain[drop:]))
        if arguments.kwarg is not None:
            found = self._followed(function, arguments.kwarg, found, owner)
        told = warned(function.node, found.parameters)
        if function.of is not None and function.name.endswith("__init__"):
            told = {**said_in_docstring(function.of, found.parameters), **told}
        marked = {name: replace(found.parameters[name], deprecated=text) for name, text in told.items()}
        found = replace(found, parameters={**found.parameters, **marked})
        for name, node in decorators(function.node):
            found = self._wrapped(found, wrapping(self.resolver, function.module, name, node), owner)
        return found

    def _wrapped(self, found: Read, around: Wrapping, owner: str) -> Read:
        extra = [Parameter(name=name, owner=owner, deprecated=text) for name, text in around.adds.items()]
        marks = {
            one.name: replace(found.parameters[one.name], deprecated=one.deprecated)
            for one in extra
            if one.name in found.parameters and one.deprecated
        }
        found = replace(found.added(extra), parameters={**found.added(extra).parameters, **marks})
        return found.opened(around.why) if around.why else found

    def _followed(self, function: Function, kwarg: ast.arg, found: Read, owner: str) -> Read:
        typed = unpacked(self.resolver, function, kwarg)
        found = found.added(typed)
        uses = uses_of(function.node, kwarg.arg, lambda node: texts(self.resolver, function, node))
        return self._ended(function, uses, found, owner)

    def _ended(self, function: Function, uses: Uses, found: Read, owner: str) -> Read:
        found = found.added(Parameter(name=name, default=text, owner=owner) for name, text in uses.read.items())
        lost = [why for end, why in uses.ends if end is End.LOST]
        closed = ["what is left over raises" for _ in uses.refused]
        places: list[ast.AST] = [*uses.refused]
        kept = [why for end, why in uses.ends if end in {End.KEPT, End.SET}]
        if any(end is End.SET for end, _ in uses.ends) and function.on is not None:
            found = found.added(settable(self.resolver, function.on))
        for handed in uses.handed:
            taken = self._handed(function, handed)
            found = found.added(taken.parameters.values())
            text = f"{ast.unparse(handed.call.func)}"
            if taken.rest is Rest.OPEN:
                lost.append(taken.why or f"handed to {text}")
            elif taken.rest is Rest.KEPT:
                kept.append(taken.why)
            else:
                places.append(handed.call)
                closed.append(taken.why or f"handed to {text}, which takes no others")
        if lost:
            return replace(found, rest=Rest.OPEN, why=lost[0])
        if closed and not surely(function.node.body, places):
            return replace(found, rest=Rest.OPEN, why=f"{closed[0]}, on some paths only")
        if closed:
            return replace(found, rest=Rest.CLOSED, why=closed[0])
        return replace(found, rest=Rest.KEPT, why=kept[0] if kept else "never read")

    def _handed(self, function: Function, handed: Handed) -> Read:
        call = handed.call
        things = callees(self.resolver, function, call.func)
        if not things:
            return opaque(f"handed to {ast.unparse(call.func)}, which is not found")
        if handed.bag >= 0:
            return either(self._bag(one, handed.bag) for one in things)
        found = either(self.read(one) for one in things)
        given = {one.arg for one in call.keywords if one.arg}
        starred = any(isinstance(one, ast.Starred) for one in call.args)
        by_hand = any(isinstance(one, Init) for one in things) and not is_super(getattr(call.func, "value", call))
        bound = () if starred else found.positional[: len(call.args) - (1 if by_hand else 0)]
        return found.without((*given, *bound))

    def _bag(self, thing: Thing, place: int) -> Read:
        """A mapping that is handed on as one argument: it is followed under the name that it has there."""
        if isinstance(thing, Class):
            found = self.resolver.attribute(thing, "__init__")
            thing = found if isinstance(found, Function) else Opaque(why=f"kept in a {thing.name}")
        if not isinstance(thing, Function):
            return opaque(thing.why if isinstance(thing, Opaque) else "handed on as a whole")
        plain = [one.arg for one in (*thing.node.args.posonlyargs, *thing.node.args.args)][1 if thing.is_bound else 0 :]
        if place >= len(plain):
            return opaque(f"handed to {thing.name}")
        name, function = plain[place], thing
        key = ("bag", thing.dotted, str(thing.node.lineno), name, thing.on.dotted if thing.on else "")

        def follow() -> Read:
            uses = uses_of(function.node, name, lambda node: texts(self.resolver, function, node))
            return self._ended(function, uses, Read(), function.dotted).opened(f"changed in {function.name}")

        return self._once(key, follow)


def _is_cut(found: Read) -> bool:
    """Say whether a read ended for the place it was read from: it is not kept for others."""
    return found.why in {_ITSELF, _TOO_DEEP}


def _changes_init(hook: ast.FunctionDef) -> bool:
    """Say whether a hook for subclasses sets their ``__init__``; that it makes them dataclasses is read elsewhere."""
    for node in ast.walk(hook):
        if isinstance(node, ast.Attribute) and node.attr == "__init__" and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            return True
    return False


def _accepts(node: ast.expr) -> bool:
    """``@strict(accept_kwargs=True)``: what is left goes to ``__post_init__``."""
    return isinstance(node, ast.Call) and any(
        one.arg == "accept_kwargs" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in node.keywords
    )
