"""Everything first-party that a function can reach, live: its code, what that code reads, and what those values hold.

The walk goes from object to object and not from file to file, so a patched method, a rebound name and a value that was
computed at import count as what they are now; and a change in the same file that the function cannot reach does not.

Source: anchors-mechanisms C1 (the helper's data in another module: four tools of four returned the old encoding).
Blind to: code chosen by a name made at run time, and what an object that the function is handed later can do.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Callable
from typing import Any

from affidavit.cache.key.doors import OPENING_NAMES, is_door, is_importing
from affidavit.cache.key.gathered import Gathered, is_secret
from affidavit.cache.key.modules import attribute_of, file_of, imported, module_named
from affidavit.cache.key.naming import (
    ABSENT,
    NOT_OF_A_CLASS,
    called,
    is_natural,
    layers,
    lookup,
    module_name,
    names_in,
    unobserved,
    words_for,
)
from affidavit.cache.key.owner import FIRST, PACKAGE, Owner, owner_of
from affidavit.cache.key.reads import Import, Read, reads_of
from affidavit.cache.key.source import digest_of_code
from affidavit.cache.key.tokenizer import backend_of, is_tokenizer, parts_of
from affidavit.cache.key.value import Former, UnstableError


class Closure:
    """Walks everything that one function can reach, once.

    Args:
        gathered: where the parts go, and what keeps the closure from being complete.
    """

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.former = Former(gathered.project, self.code, self._tokenizer)
        self._names: dict[int, str] = {}
        self._taken: dict[str, int] = {}
        self._kept: list[Any] = []
        self._todo: deque[Callable[[], None]] = deque()
        self._own_tops: set[str] = set()

    def follow(self, function: Callable[..., Any]) -> None:
        """Add everything that can be reached from a function; the package it lives in is first-party for once."""
        for each in layers(function):
            module = sys.modules.get(getattr(each, "__module__", None) or "")
            if isinstance(each, types.FunctionType) and module is not None:
                self._own_tops.add(module.__name__.partition(".")[0])
        self._own_tops.discard("affidavit")
        self._called_with(function)
        self.drain()

    def _called_with(self, function: Any) -> None:
        """Follow a function; what a partial or a bound method gives it beforehand are parts of their own."""
        if isinstance(function, functools.partial):
            for place, value in enumerate(function.args):
                self.value("argument", str(place), value)
            for name, value in sorted(function.keywords.items()):
                self.value("argument", name, value)
            self._called_with(function.func)
        elif isinstance(function, types.MethodType):
            self.value("argument", "self", function.__self__)
            self._called_with(function.__func__)
        else:
            is_own = isinstance(function, (types.FunctionType, type)) and self.is_first_party(function)
            self.value("argument", "function", function, always=not is_own)

    def drain(self) -> None:
        while self._todo:
            self._todo.popleft()()
        self.gathered.packages()

    def value(self, kind: str, name: str, value: Any, *, always: bool = True) -> None:
        """Add one value under a name; where it has no stable form, the name is a problem."""
        if self.gathered.leaves_out(kind, name):
            return
        try:
            if is_tokenizer(value):
                self.tokenizer(name, value)
                return
            form = self.former.form(value)
        except UnstableError as error:
            self.gathered.problems[f"{kind} {name}"] = str(error)
            return
        if always:
            self.gathered.add(kind, name, form, words_for(value, form))

    # --- code -----------------------------------------------------------------------------------------------------

    def code(self, value: Any) -> Any:
        """Return the form of a function, class or module, which is its name, and follow it later."""
        value = unobserved(value)
        if isinstance(value, types.MethodType):
            return ["method", self.code(value.__func__), self.former.form(value.__self__)]
        if isinstance(value, functools.partial):
            rest = [[name, self.former.form(each)] for name, each in sorted(value.keywords.items())]
            return ["partial", self.former.form(value.func), [self.former.form(each) for each in value.args], rest]
        if isinstance(value, types.BuiltinFunctionType):
            return ["builtin", called(value), self.former.form(value.__self__)]
        if isinstance(value, types.ModuleType):
            return ["module", self._enqueue(value, value.__name__, self._module)]
        if isinstance(value, type):
            return ["class", self._enqueue(value, called(value), self._class)]
        if isinstance(value, types.FunctionType):
            return [
                "function",
                self._enqueue(value, f"{module_name(value.__globals__)}.{value.__qualname__}", self._function),
            ]
        if hasattr(value, "cache_clear"):
            self.gathered.memories.append(value)
        self._class_of(type(value))
        return ["wrapper", called(type(value)), self.former.form(value.__wrapped__)]

    def _class_of(self, kind: type) -> None:
        self._enqueue(kind, called(kind), self._class)

    def _enqueue(self, value: Any, name: str, walk: Callable[[Any, str], None]) -> str:
        """Return the name under which an object is followed; a second object of the same name gets a number."""
        known = self._names.get(id(value))
        if known is not None:
            return known
        self._taken[name] = number = self._taken.get(name, 0) + 1
        name = name if number == 1 else f"{name}#{number}"
        self._names[id(value)] = name
        self._kept.append(value)
        if not self.gathered.leaves_out("source", name):
            self._todo.append(lambda: walk(value, name))
        return name

    def _owner(self, file: str, module: str) -> Owner:
        owner = owner_of(file, module)
        return Owner(FIRST, owner.top) if owner.top in self._own_tops and owner.top != "affidavit" else owner

    def is_first_party(self, kind: Any) -> bool:
        return self._owner_of_module(str(kind.__module__ or "")).kind == FIRST

    def _owner_of_module(self, name: str) -> Owner:
        return self._owner(file_of(name), name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        space = function.__globals__
        file = space.get("__file__") or function.__code__.co_filename
        owner = self._owner(file, str(space.get("__name__") or ""))
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                held = cell.cell_contents
            except ValueError:
                held = ABSENT
            if owner.kind == FIRST or callable(held):
                self._held("closure", f"{name}.{variable}", held)
        for key in sorted(vars(function)):
            if owner.kind == FIRST or callable(vars(function)[key]):
                self._held("attribute", f"{name}.{key}", vars(function)[key])
        if owner.kind != FIRST:
            self.gathered.of_package(owner, file)
            return
        code = function.__code__
        self.gathered.add("source", name, digest_of_code(code), "")
        names = code.co_varnames[: code.co_argcount]
        for key, default in zip(reversed(names), reversed(function.__defaults__ or ())):
            self._held("default", f"{name}.{key}", default)
        for key, default in sorted((function.__kwdefaults__ or {}).items()):
            self._held("default", f"{name}.{key}", default)
        for read in reads_of(code):
            self._read(read, function, name)
        for attribute in OPENING_NAMES.intersection(names_in(code)):
            self.gathered.accused.setdefault("files", f"{name} calls {attribute}")

    def _held(self, kind: str, name: str, value: Any) -> None:
        if value is ABSENT:
            self.gathered.add(kind, name, ["absent"], "absent")
        else:
            self.value(kind, name, value)

    def _class(self, kind: type, name: str) -> None:
        for base in kind.__mro__:
            if base is object:
                continue
            module = sys.modules.get(base.__module__)
            file = getattr(module, "__file__", None) or ""
            owner = self._owner(file, base.__module__)
            if owner.kind == FIRST:
                if base is not kind:
                    self._class_of(base)
                else:
                    self._own_class(base, name)
            else:
                self.gathered.of_package(owner, file)
                self._patched(base, owner)
        if type(kind) is not type:
            self._class_of(type(kind))

    def _own_class(self, kind: type, name: str) -> None:
        self.gathered.add("source", name, ["bases", [called(base) for base in kind.__mro__[1:]]], "")
        for key, value in sorted(vars(kind).items()):
            if key in NOT_OF_A_CLASS or isinstance(value, types.MemberDescriptorType):
                continue
            if isinstance(value, types.FunctionType):
                self.code(value)
            self.value("attribute", f"{name}.{key}", value, always=not is_natural(value, f"{name}.{key}"))

    def _patched(self, kind: type, owner: Owner) -> None:
        """Follow what somebody else put into a package's class: its version says nothing of that."""
        for key, value in sorted(vars(kind).items()):
            for function in layers(value):
                if not isinstance(function, types.FunctionType):
                    continue
                space = function.__globals__
                theirs = self._owner(space.get("__file__") or "", str(space.get("__name__") or ""))
                if theirs.kind == FIRST and theirs.top != owner.top:
                    self.value("attribute", f"{called(kind)}.{key}", value)

    def _module(self, module: types.ModuleType, name: str) -> None:
        """Add all of a module that is handed about as a whole: nobody can say what is asked of it."""
        file = getattr(module, "__file__", None) or ""
        owner = self._owner(file, module.__name__)
        if owner.kind != FIRST:
            self.gathered.of_package(owner, file)
            return
        for key, value in sorted(vars(module).items()):
            if not key.startswith("__") and not isinstance(value, types.ModuleType):
                self.value("global", f"{name}.{key}", value)

    # --- what code reads ------------------------------------------------------------------------------------------

    def _read(self, read: Read, function: types.FunctionType, reader: str) -> None:
        space = function.__globals__
        asked = list(read.attributes)
        if isinstance(read.root, str):
            value, name = lookup(space, read.root)
        else:
            value, name = imported(read.root, space)
        while isinstance(value, types.ModuleType) and asked:
            owner = self._owner_of_module(value.__name__)
            if owner.kind == PACKAGE:
                self.gathered.of_package(owner, getattr(value, "__file__", None) or "")
            key = asked.pop(0)
            name = f"{module_name(vars(value))}.{key}"
            value = attribute_of(value, key)
        if is_importing(value) and read.literal is not None:
            value = module_named(read.literal)
        if is_door(value, read.literal, reader, self.gathered, self.former.text):
            return
        if read.statement and isinstance(value, types.ModuleType):
            return
        if value is ABSENT:
            if isinstance(read.root, Import) or read.root in function.__code__.co_names:
                self.gathered.add("global", name, ["absent"], "absent")
        elif isinstance(value, types.ModuleType):
            self.code(value)
        else:
            self.value("global", name, value, always=not is_natural(value, name))

    def setting(self, name: str, value: Any) -> None:
        """Add one field of a configuration, by value unless it is a secret."""
        if is_secret(name.rpartition(".")[2], value):
            self.gathered.add("config", name, ["set"], "set, and a secret")
        else:
            self.value("config", name, value)

    # --- packages and tokenizers ----------------------------------------------------------------------------------

    def tokenizer(self, name: str, value: Any) -> None:
        """Add a tokenizer in parts, and what made it; one that is reached twice stands under both names."""
        self._makers_of(value)
        for part, digest, words in parts_of(value, self.former.form):
            self.gathered.add_digest("tokenizer", f"{name}.{part}", digest, words)

    def _makers_of(self, value: Any) -> None:
        for made in (value, backend_of(value)):
            self._class_of(type(made))

    def methods_of(self, value: Any) -> None:
        """Follow what a first-party class can do; the defaults of its fields are in the value already."""
        for kind in type(value).__mro__:
            if not self.is_first_party(kind):
                continue
            for function in (layer for held in vars(kind).values() for layer in layers(held)):
                if isinstance(function, types.FunctionType) and not function.__code__.co_filename.startswith("<"):
                    self.code(function)

    def _tokenizer(self, value: Any) -> Any:
        if not is_tokenizer(value):
            return None
        self._makers_of(value)
        return ["tokenizer", [[name, digest] for name, digest, _ in parts_of(value, self.former.form)]]
