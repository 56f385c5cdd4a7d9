"""The guards of a test suite, found as text: which tests claim to guard what, and on which code that was proved.

The digests are those that the pytest plugin writes, made without importing anything: of the function's source and of
the test's. A guard that was proved quickly is proved again here, by the suite's own pytest, in the command's Python.

Source: playbook §4.6. Blind to: markers that are put on by code, on a whole class or module; functions that a name
reaches in no way that can be read (``__getattr__``, an assignment). Those are unproved until the suite proves them.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import inspect
import io
import shlex
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.record import file, ledger
from affidavit.record.file import FileShapeError
from affidavit.record.ledger import Instrument
from affidavit.run.proofs import shell
from affidavit.run.proofs.copied import CopyError, copied

KIND = "guard"
SOURCE_BYTES = 1 << 21
MOST_TESTS = 4000
_DEEP = 5
"""How often a name may be imported from elsewhere before its function is taken to be nowhere."""
_MARKER = "mark.guards("
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A test that claims to guard a function; ``on`` holds the digests of both, where they are found."""

    test: str
    target: str
    on: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.test} guards {self.target}"


def declared(root: Path, names: Sequence[str]) -> tuple[Guard, ...]:
    """Return the guards that the test files among these files of a tree declare."""
    tests = [name for name in names if _is_test(Path(name).name)][:MOST_TESTS]
    return tuple(guard for name in tests for guard in _guards(root, name, names))


def held(guard: Guard, lines: ledger.Ledger, as_of: datetime.date | None = None) -> Instrument | None:
    """Return the last line about a guard; a suite whose root is elsewhere names its test by another path."""
    exact = lines.last_of(KIND, guard.name, as_of)
    if exact is not None:
        return exact
    for one in lines.instruments:
        test, _, target = one.name.partition(" guards ")
        same = one.kind == KIND and target == guard.target
        if same and (test.endswith(f"/{guard.test}") or guard.test.endswith(f"/{test}")):
            return lines.last_of(KIND, one.name, as_of)
    return None


def prove(
    guards: Sequence[Guard],
    root: Path,
    python: Path,
    environment: Mapping[str, str],
    seconds: float,
    own: tuple[Path, ...] = (),
) -> tuple[Sequence[Instrument], str]:
    """Return what pytest says of some guards in a copy of the tree now, and why it says no more; "" where it ended."""
    tests = list(dict.fromkeys(guard.test for guard in guards))
    with tempfile.TemporaryDirectory(prefix="affidavit-guards-") as place:
        path = Path(place) / "lines.jsonl"
        options = ["--affidavit-guards=fail", f"--affidavit-report={path}", "-q", "-p", "no:cacheprovider"]
        line = shlex.join([str(python), "-m", "pytest", *options, *tests])
        try:
            with copied(root, environment, own) as copy:
                said = shell.run(line, folder=copy.folder, environment=copy.environment, seconds=seconds)
        except CopyError as error:
            return (), str(error)
        return ledger.read(path).instruments, said.why if said.unrun else ""


def _is_test(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _guards(root: Path, name: str, names: Sequence[str]) -> Iterator[Guard]:
    source = _Source.of(root / name, only_with=_MARKER)
    if source is None:
        return
    for path, node in source.functions():
        for target in _targets(node):
            on = {"test": source.block(node)}
            function = _function(root, names, *target.partition(":")[::2])
            yield Guard(test=f"{name}::{path}", target=target, on=on if not function else {"function": function, **on})


def _targets(node: Definition) -> Iterator[str]:
    """Yield what ``@pytest.mark.guards("module:function", …)`` names on a test."""
    for one in node.decorator_list:
        is_marker = isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "guards"
        if is_marker and isinstance(one, ast.Call) and one.args and isinstance(one.args[0], ast.Constant):
            yield str(one.args[0].value)


def _function(root: Path, names: Sequence[str], module: str, path: str, depth: int = 0) -> str:
    """Return the digest of the function that a marker names, or "" where its text is not found."""
    place = _module(names, module)
    source = _Source.of(root / place) if place and depth < _DEEP else None
    if source is None:
        return ""
    for found, node in source.functions():
        if found.replace("::", ".") == path:
            return source.whole(node)
    first, _, rest = path.partition(".")
    for one in ast.walk(source.tree):
        if isinstance(one, ast.ImportFrom):
            for alias in one.names:
                if (alias.asname or alias.name) == first:
                    package = module if place.endswith("__init__.py") else module.rpartition(".")[0]
                    above = package.rsplit(".", one.level - 1)[0] if one.level else ""
                    origin = ".".join(part for part in (above, one.module or "") if part)
                    named = f"{alias.name}.{rest}" if rest else alias.name
                    return _function(root, names, origin, named, depth + 1)
    return ""


def _module(names: Sequence[str], module: str) -> str:
    """Return the file of the tree that a module's name means: the one nearest to the root."""
    path = module.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__init__.py")
    found = [name for name in names if name in ends or name.endswith(tuple(f"/{end}" for end in ends))]
    return min(found, key=lambda name: (name.count("/"), name), default="")


@dataclass(frozen=True)
class _Source:
    """A Python file as text, and what can be read of it."""

    text: str
    tree: ast.Module

    @classmethod
    def of(cls, path: Path, only_with: str = "") -> _Source | None:
        try:
            text = file.read(path, limit=SOURCE_BYTES).decode()
            return cls(text, ast.parse(text)) if only_with in text else None
        except (FileShapeError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def functions(self) -> Iterator[tuple[str, Definition]]:
        """Yield every function that a module or a class holds, under its names, ``::`` between them."""
        pending: list[tuple[str, ast.AST]] = [("", self.tree)]
        while pending:
            prefix, holder = pending.pop()
            for node in ast.iter_child_nodes(holder):
                if isinstance(node, Definition):
                    yield f"{prefix}{node.name}", node
                elif isinstance(node, ast.ClassDef):
                    pending.append((f"{prefix}{node.name}::", node))
                elif isinstance(node, ast.If | ast.Try):
                    pending.append((prefix, node))

    def whole(self, node: Definition) -> str:
        """Return the digest of a function as :attr:`affidavit.mutation.mutant.Subject.digest` makes it."""
        return _digest(textwrap.dedent("".join(self._lines()[_first(node) - 1 : node.end_lineno])))

    def block(self, node: Definition) -> str:
        """Return the digest of a test as the plugin makes it: of what ``inspect`` takes for its source."""
        try:
            return _digest(textwrap.dedent("".join(inspect.getblock(self._lines()[_first(node) - 1 :]))))
        except (SyntaxError, IndexError, RecursionError):
            return ""

    def _lines(self) -> list[str]:
        return io.StringIO(self.text, newline=None).readlines()


def _first(node: Definition) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()
