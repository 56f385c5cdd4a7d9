"""What one Python source asks to be imported, read without running it."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import Final

_PREFILTER: Final = (b"import", b"exec")
_DYNAMIC: Final = frozenset(
    {
        "__import__",
        "exec",
        "execfile",
        "import_module",
        "importlib.import_module",
        "importlib.util.spec_from_file_location",
        "spec_from_file_location",
        "run_module",
        "run_path",
        "runpy.run_module",
        "runpy.run_path",
        "sys.path.append",
        "sys.path.extend",
        "sys.path.insert",
    }
)
_BY_NAME: Final = frozenset({"__import__", "import_module", "importlib.import_module"})
_SHOWN: Final = 80


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A name asked for, absolute; of `from a import b` both `a` and `a.b`, which may be no module."""

    name: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Dynamic:
    """An expression that decides only at run time what is imported or run."""

    line: int
    expression: str


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The imports of one source in the order of its lines, and what cannot be followed."""

    wanted: tuple[Wanted, ...]
    dynamic: tuple[Dynamic, ...]


def scan(source: bytes, *, package: str) -> Scan:
    """The imports that the source would make, function bodies and `try` arms included.

    Args:
        source: the file's bytes; a coding cookie is honoured.
        package: the package that relative imports count from, "" for a script.
    Raises:
        SyntaxError: not Python of our own version, or not Python; the caller says "not scanned".
        ValueError, RecursionError: likewise (NUL bytes, nesting too deep).
    Source: the import statement in the Python reference; research, bytes prefilter 360 times ast.
    Blind to: what a dynamic import resolves to; imports under `TYPE_CHECKING` are not followed, since they
        do not run.
    """
    if not any(word in source for word in _PREFILTER):
        return Scan(wanted=(), dynamic=())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user's invalid escapes are not ours to print
        tree = ast.parse(source)
    visitor = _Imports(package)
    visitor.visit(tree)
    return Scan(wanted=tuple(visitor.wanted), dynamic=tuple(visitor.dynamic))


class _Imports(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self.package = package
        self.wanted: list[Wanted] = []
        self.dynamic: list[Dynamic] = []

    def visit_If(self, node: ast.If) -> None:
        if _dotted(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            for branch in node.orelse:
                self.visit(branch)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._want(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._absolute(node.module or "", node.level)
        if base is None:
            self.dynamic.append(Dynamic(line=node.lineno, expression=ast.unparse(node)[:_SHOWN]))
            return
        self._want(base, node.lineno)
        for alias in node.names:
            if alias.name != "*":
                self._want(f"{base}.{alias.name}", node.lineno)

    def visit_Call(self, node: ast.Call) -> None:
        called = _dotted(node.func)
        if called in _DYNAMIC:
            name = _constant_name(node) if called in _BY_NAME else None
            if name is not None:
                self._want(name, node.lineno)
            else:
                self.dynamic.append(Dynamic(line=node.lineno, expression=ast.unparse(node)[:_SHOWN]))
        self.generic_visit(node)

    def _want(self, name: str, line: int) -> None:
        self.wanted.append(Wanted(name=name, line=line))

    def _absolute(self, module: str, level: int) -> str | None:
        """The absolute name of a relative import, None where Python itself would refuse it."""
        if level == 0:
            return module
        parts = self.package.split(".") if self.package else []
        if level > len(parts):
            return None
        kept = parts[: len(parts) - level + 1]
        return ".".join([*kept, module] if module else kept)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return ""


def _constant_name(node: ast.Call) -> str | None:
    """The module that a call names outright: `import_module("a.b")`."""
    if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        name = node.args[0].value
        if isinstance(name, str) and name and not name.startswith("."):
            return name
    return None
