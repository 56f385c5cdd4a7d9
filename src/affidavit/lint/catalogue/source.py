"""Installed modules as text: where a dotted name's file lies, and what its top level binds. Nothing is imported."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_EXPORTED = re.compile(rb"^__all__\s*(?:\+?=|:[^=\n]*=)\s*[\[(]([^\])]*)[\])]", re.MULTILINE)
_MAPPED = re.compile(r"[\"'](\w+)[\"']: [\"']([^\"']+)[\"']")
_QUOTED = re.compile(rb"[\"'](\w+)[\"']")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """One statement that binds a name of a module; ``guarded`` stands in a branch, ``fallback`` in an except."""

    node: ast.stmt
    guarded: bool = False
    fallback: bool = False


@dataclass(kw_only=True)
class Module:
    """One parsed file."""

    name: str
    path: Path
    is_package: bool
    tree: ast.Module
    text: str

    @cached_property
    def bound(self) -> dict[str, tuple[Binding, ...]]:
        """Names of the top level, each with the statements that may have bound it last."""
        found: dict[str, tuple[Binding, ...]] = {}
        for binding in bindings(self.tree.body):
            for name in names_of(binding.node):
                before = found.get(name, ())
                keeps = binding.guarded or binding.fallback or _wraps_itself(binding.node, name)
                found[name] = (*before, binding) if keeps else (binding,)
        return found

    @cached_property
    def stars(self) -> tuple[ast.ImportFrom, ...]:
        """The imports of everything."""
        nodes = (binding.node for binding in bindings(self.tree.body))
        return tuple(
            node for node in nodes if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
        )

    @cached_property
    def exported(self) -> tuple[str, ...] | None:
        """The names of ``__all__`` as far as they are written out, None where there is no ``__all__``."""
        found: list[str] = []
        seen = False
        for binding in bindings(self.tree.body):
            if "__all__" in names_of(binding.node) and isinstance(binding.node, (ast.Assign, ast.AugAssign)):
                seen = True
                found += strings(binding.node.value)
        return tuple(found) if seen else None

    @cached_property
    def lazy(self) -> dict[str, str]:
        """Names of an ``_import_structure`` and the submodule that has each."""
        found: dict[str, str] = {}
        for binding in bindings(self.tree.body):
            node = binding.node
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and target.id.endswith("import_structure"):
                    if isinstance(node.value, ast.Dict):
                        for key, value in zip(node.value.keys, node.value.values, strict=True):
                            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                                found.update(dict.fromkeys(strings(value), key.value))
                elif (
                    isinstance(target, ast.Subscript)
                    and isinstance(target.value, ast.Name)
                    and target.value.id.endswith("import_structure")
                    and isinstance(target.slice, ast.Constant)
                    and node.value is not None
                ):
                    found.update(dict.fromkeys(strings(node.value), str(target.slice.value)))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                place = node.value.func
                if (
                    isinstance(place, ast.Attribute)
                    and place.attr in {"append", "extend"}
                    and isinstance(place.value, ast.Subscript)
                    and isinstance(place.value.slice, ast.Constant)
                ):
                    for argument in node.value.args:
                        found.update(dict.fromkeys(strings(argument), str(place.value.slice.value)))
        return found

    @cached_property
    def makes_names(self) -> bool:
        """Say whether a name may exist that no statement of the file binds."""
        return "__getattr__" in self.bound or "_LazyModule(" in self.text or "globals()" in self.text

    def absolute(self, node: ast.ImportFrom) -> str:
        """Return the module that an import names."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - node.level + (1 if self.is_package else 0)]
        return ".".join([*kept, *([node.module] if node.module else [])])


class Sources:
    """The modules below some site folders, parsed once each."""

    def __init__(self, sites: Sequence[Path]) -> None:
        self.sites = tuple(dict.fromkeys((*sites, *_linked(sites))))
        self._modules: dict[str, Module | None] = {}
        self._places: dict[str, tuple[Path, bool] | None] = {}

    def place(self, name: str) -> tuple[Path, bool] | None:
        """Return the file of a module and whether it is a package, None where no site has one."""
        if name not in self._places:
            self._places[name] = self._placed(name)
        return self._places[name]

    def _placed(self, name: str) -> tuple[Path, bool] | None:
        for site in self.sites:
            stem = os.path.join(site, *name.split("."))  # noqa: PTH118 - called for every module of every chain
            for path, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
                if os.path.isfile(path):  # noqa: PTH113
                    return Path(path), is_package
        return None

    def has_folder(self, name: str) -> bool:
        """Say whether a site has something under a module's name that is no Python text: a namespace, an extension."""
        for site in self.sites:
            base = site.joinpath(*name.split("."))
            if base.is_dir() or any(base.parent.glob(f"{base.name}.*.so")) or base.with_suffix(".pyi").exists():
                return True
        return False

    def module(self, name: str) -> Module | None:
        """Return a module, None where there is none or its text is no Python."""
        if name not in self._modules:
            self._modules[name] = self._parsed(name)
        return self._modules[name]

    def _parsed(self, name: str) -> Module | None:
        place = self.place(name)
        if place is None:
            return None
        path, is_package = place
        try:
            raw = path.read_bytes()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes of others are no business of ours
                tree = ast.parse(raw)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        return Module(name=name, path=path, is_package=is_package, tree=tree, text=raw.decode("utf-8", "replace"))


def exports(folder: Path, prefix: str) -> dict[str, str]:
    """Return what the files below a folder list in ``__all__``, and the module of each.

    It stands for ``define_import_structure``, which reads the same lists. Parsing 2,000 files for one name would take
    half a minute.
    """
    found: dict[str, str] = {}
    for root, folders, files in os.walk(folder):
        folders.sort()
        dotted = ".".join([prefix, *Path(root).relative_to(folder).parts])
        for name in sorted(files):
            if not name.endswith(".py") or name.startswith(("modular_", "convert_")):
                continue
            try:
                text = Path(root, name).read_bytes()
            except OSError:
                continue
            if b"__all__" not in text:
                continue
            module = dotted if name == "__init__.py" else f"{dotted}.{name[:-3]}"
            for listed in _EXPORTED.finditer(text):
                for quoted in _QUOTED.findall(listed[1]):
                    found.setdefault(quoted.decode(), module)
    return found


def bindings(body: Sequence[ast.stmt], *, guarded: bool = False, fallback: bool = False) -> Iterator[Binding]:
    """Yield the statements of a body and of its branches, in order."""
    for node in body:
        if isinstance(node, ast.If):
            always = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            always = always or (isinstance(node.test, ast.Attribute) and node.test.attr == "TYPE_CHECKING")
            yield from bindings(node.body, guarded=guarded or not always, fallback=fallback)
            yield from bindings(node.orelse, guarded=True, fallback=fallback)
        elif isinstance(node, ast.Try):
            yield from bindings(node.body, guarded=guarded, fallback=fallback)
            for handler in node.handlers:
                yield from bindings(handler.body, guarded=True, fallback=True)
            yield from bindings(node.orelse, guarded=guarded, fallback=fallback)
            yield from bindings(node.finalbody, guarded=guarded, fallback=fallback)
        elif isinstance(node, (ast.With, ast.For, ast.While)):
            yield from bindings(node.body, guarded=guarded, fallback=fallback)
        else:
            yield Binding(node=node, guarded=guarded, fallback=fallback)


def names_of(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that one statement binds."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return (node.name,)
    if isinstance(node, ast.Import):
        return tuple(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return tuple(alias.asname or alias.name for alias in node.names if alias.name != "*")
    if isinstance(node, ast.Assign):
        return tuple(target.id for target in node.targets if isinstance(target, ast.Name))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
        return (node.target.id,) if isinstance(node, ast.AugAssign) or node.value is not None else ()
    return ()


def strings(node: ast.AST) -> list[str]:
    """Return the texts of a list, tuple, set or sum of them that is written out."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node, ast.BinOp):
        return strings(node.left) + strings(node.right)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return []


def _wraps_itself(node: ast.stmt, name: str) -> bool:
    """``X = decorate(X)``: what stood under the name before is still what it is about."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.value))
    )


def _linked(sites: Sequence[Path]) -> Iterator[Path]:
    """Folders that editable installs add: by a ``.pth`` line, or by a finder that maps names to folders.

    Lines that run code are not run, and a finder is not imported.
    """
    for site in sites:
        for file in sorted(site.glob("*.pth")) if site.is_dir() else ():
            for line in file.read_text("utf-8", "replace").splitlines():
                text = line.strip()
                if text and not text.startswith(("#", "import ", "import\t")):
                    folder = (site / text).resolve()
                    if folder.is_dir():
                        yield folder
        for file in sorted(site.glob("__editable__*_finder.py")) if site.is_dir() else ():
            for name, place in _MAPPED.findall(file.read_text("utf-8", "replace").partition("NAMESPACES")[0]):
                if Path(place).name == name and Path(place).parent.is_dir():
                    yield Path(place).parent
