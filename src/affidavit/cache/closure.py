"""Everything first-party that a function can reach, live: its code, what that code reads, and what those values hold.

The walk goes from object to object and not from file to file, so a patched method, a rebound name and a value that was
computed at import count as what they are now; and a change in the same file that the function cannot reach does not.

Source: anchors-mechanisms C1 (the helper's data in another module: four tools of four returned the old encoding).
Blind to: code chosen by a name made at run time, and what an object that the function is handed later can do.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import io
import os
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from affidavit.attach.redact import is_secret_name, redact
from affidavit.cache.files import digest_of_file
from affidavit.cache.owner import FIRST, PACKAGE, Owner, content_of, owner_of
from affidavit.cache.preimage import Part, canonical, digest_of, shown
from affidavit.cache.reads import Import, Read, reads_of
from affidavit.cache.source import digest_of_code
from affidavit.cache.tokenizer import backend_of, is_tokenizer, parts_of
from affidavit.cache.value import Former, UnstableError

_ABSENT = object()
_NOT_OF_A_CLASS = frozenset((
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__slots__",
    "_abc_impl", "__abstractmethods__", "__orig_bases__", "__parameters__", "__dataclass_fields__",
    "__dataclass_params__", "__signature__", "__slotnames__",
))  # fmt: skip
_AT_RUN_TIME = {"eval": eval, "exec": exec, "__import__": __import__, "globals": globals}
_OPENING = (open, io.open, os.open, io.FileIO)
_OPENING_NAMES = frozenset(("read_text", "read_bytes"))
_NETWORK = frozenset(("aiohttp", "httpx", "requests", "socket", "subprocess", "urllib3"))


class Closure:
    """Collects the parts of one function's closure, and what keeps it from being complete.

    Attributes:
        parts: by kind and name.
        problems: what cannot be part of a key, by name: (name, what was seen).
        accused: ``files``, ``environment``, ``random`` or ``network`` → what in the code reaches for it. Only a call
            on real rows can say what it finds there.
        memories: the caches of :mod:`functools` in the closure; a trace has to empty them to see what they hide.
    """

    def __init__(self, project: Path, leaves_out: Callable[[str, str], bool]) -> None:
        self.parts: dict[tuple[str, str], Part] = {}
        self.problems: dict[str, str] = {}
        self.accused: dict[str, str] = {}
        self.memories: list[Any] = []
        self.former = Former(project, self.code, self._tokenizer)
        self._leaves_out = leaves_out
        self._names: dict[int, str] = {}
        self._taken: dict[str, int] = {}
        self._kept: list[Any] = []
        self._todo: deque[Callable[[], None]] = deque()
        self._own_tops: set[str] = set()
        self._files: dict[str, set[str]] = {}
        self._project = project

    def follow(self, function: Callable[..., Any]) -> None:
        """Add everything that can be reached from a function; the package it lives in is first-party for once."""
        for each in _layers(function):
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
            is_code = isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type))
            self.value("argument", "function", function, always=not is_code)

    def drain(self) -> None:
        while self._todo:
            self._todo.popleft()()
        for name, files in self._files.items():
            self._package(name, files)

    def value(self, kind: str, name: str, value: Any, *, always: bool = True) -> None:
        """Add one value under a name; where it has no stable form, the name is a problem."""
        if self._leaves_out(kind, name):
            return
        try:
            if is_tokenizer(value):
                self.tokenizer(name, value)
                return
            form = self.former.form(value)
        except UnstableError as error:
            self.problems[f"{kind} {name}"] = str(error)
            return
        if always:
            self.add(kind, name, form, _words(value, form))

    def add(self, kind: str, name: str, form: Any, words: str) -> None:
        if not self._leaves_out(kind, name):
            self.parts[kind, name] = Part(kind, name, digest_of(canonical(form)), shown(words))

    # --- code -----------------------------------------------------------------------------------------------------

    def code(self, value: Any) -> Any:
        """Return the form of a function, class or module, which is its name, and follow it later."""
        value = _unobserved(value)
        if isinstance(value, types.MethodType):
            return ["method", self.code(value.__func__), self._self(value.__self__)]
        if isinstance(value, functools.partial):
            rest = [[name, self.former.form(each)] for name, each in sorted(value.keywords.items())]
            return ["partial", self.former.form(value.func), [self.former.form(each) for each in value.args], rest]
        if isinstance(value, types.BuiltinFunctionType):
            return ["builtin", _called(value), self._self(value.__self__)]
        if isinstance(value, types.ModuleType):
            return ["module", self._enqueue(value, value.__name__, self._module)]
        if isinstance(value, type):
            return ["class", self._enqueue(value, _called(value), self._class)]
        if isinstance(value, types.FunctionType):
            return ["function", self._enqueue(value, self._name_of(value), self._function)]
        if hasattr(value, "cache_clear"):
            self.memories.append(value)
        self._class_of(type(value))
        return ["wrapper", _called(type(value)), self.former.form(value.__wrapped__)]

    def _class_of(self, kind: type) -> None:
        self._enqueue(kind, _called(kind), self._class)

    def _self(self, value: Any) -> Any:
        return None if value is None or isinstance(value, types.ModuleType) else self.former.form(value)

    def _enqueue(self, value: Any, name: str, walk: Callable[[Any, str], None]) -> str:
        """Return the name under which an object is followed; a second object of the same name gets a number."""
        known = self._names.get(id(value))
        if known is not None:
            return known
        self._taken[name] = number = self._taken.get(name, 0) + 1
        called = name if number == 1 else f"{name}#{number}"
        self._names[id(value)] = called
        self._kept.append(value)
        if not self._leaves_out("source", called):
            self._todo.append(lambda: walk(value, called))
        return called

    def _name_of(self, function: types.FunctionType) -> str:
        return f"{_module_name(function.__globals__)}.{function.__qualname__}"

    def _owner(self, file: str, module: str) -> Owner:
        owner = owner_of(file, module)
        return Owner(FIRST, owner.top) if owner.top in self._own_tops and owner.top != "affidavit" else owner

    def is_first_party(self, kind: type) -> bool:
        return self._owner_of_module(kind.__module__).kind == FIRST

    def _owner_of_module(self, name: str) -> Owner:
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None) or ""
        if module is None:
            spec = importlib.util.find_spec(name.partition(".")[0]) if name else None
            file = (spec.origin or "") if spec is not None else ""
        return self._owner(file, name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        space = function.__globals__
        file = space.get("__file__") or function.__code__.co_filename
        owner = self._owner(file, str(space.get("__name__") or ""))
        inner = zip(function.__code__.co_freevars, function.__closure__ or ())
        for variable, cell in inner:
            try:
                held = cell.cell_contents
            except ValueError:
                held = _ABSENT
            if owner.kind == FIRST or callable(held):
                self._held("closure", f"{name}.{variable}", held)
        for key in sorted(vars(function)):
            if owner.kind == FIRST or callable(vars(function)[key]):
                self._held("attribute", f"{name}.{key}", vars(function)[key])
        if owner.kind != FIRST:
            self._of_package(owner, file)
            return
        code = function.__code__
        self.add("source", name, digest_of_code(code), "")
        names = code.co_varnames[: code.co_argcount]
        for key, default in zip(reversed(names), reversed(function.__defaults__ or ())):
            self._held("default", f"{name}.{key}", default)
        for key, default in sorted((function.__kwdefaults__ or {}).items()):
            self._held("default", f"{name}.{key}", default)
        for read in reads_of(code):
            self._read(read, function, name)
        for attribute in _OPENING_NAMES.intersection(_all_names(code)):
            self.accused.setdefault("files", f"{name} calls {attribute}")

    def _held(self, kind: str, name: str, value: Any) -> None:
        if value is _ABSENT:
            self.add(kind, name, ["absent"], "absent")
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
                self._of_package(owner, file)
                self._patched(base, owner)
        if type(kind) is not type:
            self._class_of(type(kind))

    def _own_class(self, kind: type, name: str) -> None:
        self.add("source", name, ["bases", [_called(base) for base in kind.__mro__[1:]]], "")
        for key, value in sorted(vars(kind).items()):
            if key in _NOT_OF_A_CLASS or isinstance(value, types.MemberDescriptorType):
                continue
            if isinstance(value, types.FunctionType):
                self.code(value)
            self.value("attribute", f"{name}.{key}", value, always=not _is_natural(value, f"{name}.{key}"))

    def _patched(self, kind: type, owner: Owner) -> None:
        """Follow what somebody else put into a package's class: its version says nothing of that."""
        for key, value in sorted(vars(kind).items()):
            for function in _layers(value):
                if not isinstance(function, types.FunctionType):
                    continue
                space = function.__globals__
                theirs = self._owner(space.get("__file__") or "", str(space.get("__name__") or ""))
                if theirs.kind == FIRST and theirs.top != owner.top:
                    self.value("attribute", f"{_called(kind)}.{key}", value)

    def _module(self, module: types.ModuleType, name: str) -> None:
        """Add all of a module that is handed about as a whole: nobody can say what is asked of it."""
        file = getattr(module, "__file__", None) or ""
        owner = self._owner(file, module.__name__)
        if owner.kind != FIRST:
            self._of_package(owner, file)
            return
        for key, value in sorted(vars(module).items()):
            if not key.startswith("__") and not isinstance(value, types.ModuleType):
                self.value("global", f"{name}.{key}", value)

    # --- what code reads ------------------------------------------------------------------------------------------

    def _read(self, read: Read, function: types.FunctionType, reader: str) -> None:
        space = function.__globals__
        asked = list(read.attributes)
        if isinstance(read.root, str):
            value, name = _lookup(space, read.root)
        else:
            value, name = self._imported(read.root, space)
        while isinstance(value, types.ModuleType) and asked:
            owner = self._owner_of_module(value.__name__)
            if owner.kind == PACKAGE:
                self._of_package(owner, getattr(value, "__file__", None) or "")
            key = asked.pop(0)
            name = f"{_module_name(vars(value))}.{key}"
            value = self._attribute(value, key)
        if self._is_special(value, asked, read.literal, reader):
            return
        if read.statement and isinstance(value, types.ModuleType):
            return
        if value is _ABSENT:
            if isinstance(read.root, Import) or read.root in function.__code__.co_names:
                self.add("global", name, ["absent"], "absent")
        elif isinstance(value, types.ModuleType):
            self.code(value)
        else:
            self.value("global", name, value, always=not _is_natural(value, name))

    def _attribute(self, module: types.ModuleType, key: str) -> Any:
        found = getattr(module, key, _ABSENT)
        if found is _ABSENT:
            found = self._module_named(f"{module.__name__}.{key}")
        return found

    def _imported(self, wanted: Import, space: dict[str, Any]) -> tuple[Any, str]:
        name = wanted.module
        if wanted.level:
            package = str(space.get("__package__") or space.get("__name__") or "")
            try:
                name = importlib.util.resolve_name("." * wanted.level + name, package)
            except ImportError:
                return _ABSENT, name
        found = self._module_named(name)
        if wanted.top and found is not _ABSENT:
            name = name.partition(".")[0]
            found = sys.modules.get(name, found)
        return found, name

    def _module_named(self, name: str) -> Any:
        """Return a module that the code would import, imported where it is first-party: its values are live ones."""
        found = sys.modules.get(name)
        if found is not None:
            return found
        try:
            return importlib.import_module(name)
        except ImportError:
            return _ABSENT

    def _is_special(self, value: Any, asked: list[str], literal: str | None, reader: str) -> bool:
        """Say whether a value is no value but a door: to the environment, to files, to chance, to other machines."""
        if value is os.environ or value is os.getenv or value is getattr(os, "environb", _ABSENT):
            if literal is not None:
                self.variable(literal)
            else:
                self.accused.setdefault("environment", f"{reader} reads a variable that it names at run time")
            return True
        if any(value is each for each in _OPENING):
            self.accused.setdefault("files", f"{reader} calls open")
            return True
        for called, made in _AT_RUN_TIME.items():
            if value is made:
                self._problem(f"source {reader}", f"{called}, which runs or finds what no source shows")
                return True
        if value is importlib.import_module:
            if literal is None:
                self._problem(f"source {reader}", "import_module of a name made at run time")
            elif (module := self._module_named(literal)) is not _ABSENT:
                self.code(module)
            return True
        if _is_chance(value):
            self.accused.setdefault("random", f"{reader} draws from {getattr(value, '__name__', 'random')}")
            return True
        module = str(getattr(value, "__module__", "") or getattr(value, "__name__", "")).partition(".")[0]
        if module in _NETWORK:
            self.accused.setdefault("network", f"{reader} reaches for {module}")
        return False

    def _problem(self, name: str, saw: str) -> None:
        kind, _, rest = name.partition(" ")
        if not self._leaves_out(kind, rest):
            self.problems[name] = saw

    def variable(self, name: str) -> None:
        """Add an environment variable by its value; of a secret only whether it is set, which is all that is kept."""
        value = os.environ.get(name)
        if value is None:
            self.add("environment", name, ["unset"], "unset")
        elif is_secret(name, value):
            self.add("environment", name, ["set"], "set, and a secret")
        elif not name.startswith("AFFIDAVIT_"):
            self.add("environment", name, ["is", self.former.text(value)], value)

    def setting(self, name: str, value: Any) -> None:
        """Add one field of a configuration, by value unless it is a secret."""
        if is_secret(name.rpartition(".")[2], value):
            self.add("config", name, ["set"], "set, and a secret")
        else:
            self.value("config", name, value)

    # --- packages and tokenizers ----------------------------------------------------------------------------------

    def _of_package(self, owner: Owner, file: str) -> None:
        for name in owner.names:
            files = self._files.setdefault(name, set())
            if file.endswith(".py"):
                files.add(file)

    def _package(self, name: str, files: set[str]) -> None:
        """Add a distribution: what it was when installed, and what the files in reach are now."""
        if self._leaves_out("package", name):
            return
        try:
            content = content_of(name)
            now = sorted([_within_site(file), digest_of_file(file)] for file in files)
        except (OSError, ImportError) as error:
            self.problems[f"package {name}"] = str(error)
            return
        form = [content.name, content.version, content.record, now if name != "affidavit" else []]
        self.add("package", content.name, form, content.version)

    def tokenizer(self, name: str, value: Any) -> None:
        """Add a tokenizer in parts, and what made it; one that is reached twice stands under both names."""
        self._makers_of(value)
        for part, digest, words in parts_of(value, self.former.form):
            if not self._leaves_out("tokenizer", f"{name}.{part}"):
                self.parts["tokenizer", f"{name}.{part}"] = Part("tokenizer", f"{name}.{part}", digest, shown(words))

    def _makers_of(self, value: Any) -> None:
        self._class_of(type(value))
        if (backend := backend_of(value)) is not None:
            self._class_of(type(backend))

    def methods_of(self, value: Any) -> None:
        """Follow what a first-party class can do; the defaults of its fields are in the value already."""
        for kind in type(value).__mro__:
            if not self.is_first_party(kind):
                continue
            for function in (layer for held in vars(kind).values() for layer in _layers(held)):
                if isinstance(function, types.FunctionType) and not function.__code__.co_filename.startswith("<"):
                    self.code(function)

    def file(self, path: str) -> None:
        """Add a file that was opened by its content, and one that was not there as absent."""
        owner = owner_of(path, "")
        if owner.kind == PACKAGE:
            self._of_package(owner, "")
        if owner.kind != FIRST or path.startswith(("/proc/", "/sys/", "/dev/")):
            return
        place = Path(path)
        name = place_of(place, self._project)
        if place.is_dir():
            names = sorted(each.name for each in place.iterdir() if each.name != "__pycache__")
            self.add("folder", name, names, f"{len(names)} names")
        elif place.is_file():
            self.add("file", name, digest_of_file(place), f"{place.stat().st_size:,} bytes")
        else:
            self.add("file", name, "absent", "absent")

    def _tokenizer(self, value: Any) -> Any:
        if not is_tokenizer(value):
            return None
        self._makers_of(value)
        return ["tokenizer", [[name, digest] for name, digest, _ in parts_of(value, self.former.form)]]


def _words(value: Any, form: Any) -> str:
    if isinstance(value, (type, types.FunctionType)):
        return str(form[-1])
    if isinstance(value, (set, frozenset)):
        try:
            return f"{{{', '.join(map(repr, sorted(value)))}}}"
        except TypeError:
            return ""
    text = repr(value) if isinstance(value, (str, int, float, list, tuple, dict, bytes, Path)) or value is None else ""
    return "" if " at 0x" in text else text


def _lookup(space: dict[str, Any], name: str) -> tuple[Any, str]:
    """Return what a global name stands for, and the full name under which it stands."""
    if name not in space and hasattr(builtins, name):
        return getattr(builtins, name), f"builtins.{name}"
    return space.get(name, _ABSENT), f"{_module_name(space)}.{name}"


def _module_name(space: dict[str, Any]) -> str:
    """Return a module's name; a script has that of its file, so that it is the same run or imported."""
    name = str(space.get("__name__") or "")
    if name != "__main__":
        return name
    spec = space.get("__spec__")
    if spec is not None:
        return str(spec.name)
    return Path(str(space.get("__file__") or "__main__")).stem


def _called(value: Any) -> str:
    module = str(getattr(value, "__module__", None) or "builtins")
    if module == "__main__":
        module = _module_name(vars(sys.modules["__main__"]))
    return f"{module}.{getattr(value, '__qualname__', value.__name__)}"


def _is_natural(value: Any, name: str) -> bool:
    """Say whether a name leads to what is defined under it: then the code says all, and the name nothing more."""
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return False
    called = _called(value)
    return called in (name, f"builtins.{name.rpartition('.')[2]}")


def is_secret(name: str, value: Any) -> bool:
    """Say whether a value is a secret, of which no digest is made; a ``text_key`` is a name and counts by value."""
    if not isinstance(value, str) or not value or not is_secret_name(name):
        return False
    return not name.lower().endswith(("key", "keys")) or redact(value) != value


def _unobserved(value: Any) -> Any:
    """Return what stood there before this run was observed: a key is the same with a witness and without."""
    while isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__"):
        module = str(value.__globals__.get("__name__") or "")
        if not module.startswith("affidavit.") or module.startswith("affidavit.cache"):
            break
        value = value.__wrapped__
    return value


def _layers(value: Any) -> Iterator[Any]:
    """Yield a function and the functions that it wraps."""
    for _ in range(32):
        yield value
        inner = getattr(value, "__func__", None) or getattr(value, "func", None) or getattr(value, "fget", None)
        inner = inner or getattr(value, "__wrapped__", None)
        if inner is None or inner is value:
            return
        value = inner


def _is_chance(value: Any) -> bool:
    """Say whether a value draws from a state that the whole process shares."""
    owner = getattr(value, "__self__", None)
    if owner is getattr(random, "_inst", _ABSENT):
        return True
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and owner is not None and owner is getattr(numpy.mtrand, "_rand", _ABSENT):
        return True
    torch = sys.modules.get("torch")
    drawing = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial")
    return torch is not None and any(value is getattr(torch, name, _ABSENT) for name in drawing)


def _all_names(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _all_names(inner)
    return found


def place_of(path: Path, project: Path) -> str:
    """Return how a file is called wherever the project lies; one that lies elsewhere has only its own name."""
    for base in (project, Path(os.path.realpath(project))):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return f"outside/{path.name}"


def _within_site(file: str) -> str:
    parts = file.replace(os.sep, "/").split("/")
    at = max((at for at, part in enumerate(parts) if part in ("site-packages", "dist-packages")), default=-1)
    return "/".join(parts[at + 1 :]) if at >= 0 else parts[-1]
