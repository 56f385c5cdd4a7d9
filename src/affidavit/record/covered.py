"""The code that a number was measured on, known by its text: a function, a class, a name, or a whole file.

A digest of a file moves with every comment in it, and is soon ignored. That of a function moves when the function does:
what is digested is its syntax without comments, docstrings, positions and the spelling of literals. Nothing is run.

Source: playbook §4.7; the abstract syntax of Python, with what versions differ in left out.
Blind to: what a function calls; a name that is bound at run time; a notebook, which is digested with its outputs.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from affidavit.fact.errors import AffidavitError, refusal

SIZE_BYTES = 1 << 26
CHANGED, GONE = "changed", "gone"
_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class CoveredError(AffidavitError):
    """What a measurement is said to cover is not there, or not to be read."""


@dataclass(frozen=True, kw_only=True)
class Covered:
    """A piece of code as a measurement keeps it: ``path`` or ``path:function`` from the project's root, its digest."""

    target: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A piece of code that is no longer what was measured: ``changed``, or ``gone`` with why."""

    target: str
    how: str
    why: str = ""


def digest_of(target: str, root: Path) -> str:
    """Return the digest of the code that a target names; raises as :func:`cover`."""
    return cover(target, root).digest


def cover(target: str, root: Path) -> Covered:
    """Return the code that ``path``, ``path:function`` or ``module:Class.method`` names, under its path.

    Raises:
        CoveredError: no such file or name in this project, or a file that is no Python where a name in it was asked.
    """
    place, colon, name = target.rpartition(":") if ":" in target else (target, "", "")
    path = _file(place, root)
    if path is None:
        raise _refused(target, f"no file {place!r:.120} below {root}")
    shown = path.relative_to(root.resolve()).as_posix()
    if not shown.isascii():
        raise _refused(target, "a path that is not ASCII")
    if not colon:
        return Covered(target=shown, digest=_of_file(path, target))
    names = [part for part in name.split(".") if part != "<locals>"]
    tree = _tree(path, target)
    found = list(_find(tree.body, names)) if all(names) else []
    if not found:
        raise _refused(target, f"{_missing(tree, name)} in {shown}")
    return Covered(target=f"{shown}:{'.'.join(names)}", digest=_digest(_written(node) for node in found))


def moved(code: Mapping[str, str], root: Path) -> tuple[Moved, ...]:
    """Return what is no longer as it was measured; nothing where all of it is."""
    found = []
    for target, digest in sorted(code.items()):
        try:
            if digest_of(target, root) != digest:
                found.append(Moved(target=target, how=CHANGED))
        except CoveredError as error:
            found.append(Moved(target=target, how=GONE, why=str(error).partition("\n")[0]))
    return tuple(found)


def _file(place: str, root: Path) -> Path | None:
    """Return a file of the project: a path, or a module at the root or below ``src``."""
    home = root.resolve()
    tries = [home / place]
    if place and all(part.isidentifier() for part in place.split(".")):
        parts = place.split(".")
        for top in (home, home / "src"):
            tries += [top.joinpath(*parts).with_suffix(".py"), top.joinpath(*parts, "__init__.py")]
    try:
        found = (path.resolve() for path in tries if place and path.is_file())
        return next((path for path in found if path.is_relative_to(home)), None)
    except (OSError, ValueError):  # a name that is too long, or holds a zero
        return None


def _of_file(path: Path, target: str) -> str:
    if path.suffix == ".py":
        return _digest(_written(node) for node in _undocumented(_tree(path, target).body))
    return f"sha256:{hashlib.sha256(_raw(path, target)).hexdigest()}"


def _raw(path: Path, target: str) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_BYTES + 1)
    except OSError as error:
        raise _refused(target, error.strerror or "an error") from error
    if len(raw) > SIZE_BYTES:
        raise _refused(target, f"more than {SIZE_BYTES:,} bytes")
    return raw


def _tree(path: Path, target: str) -> ast.Module:
    raw = _raw(path, target)
    try:
        return _parsed(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise _refused(target, f"no Python ({type(error).__name__}{line})") from error


@lru_cache(maxsize=64)
def _parsed(raw: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape is for its author's eyes
        return ast.parse(raw)


def _find(body: Iterable[ast.stmt], names: list[str]) -> Iterator[ast.stmt]:
    """Yield each statement that defines a name: of an overload or a property, all of them."""
    first, rest = names[0], names[1:]
    for node in body:
        if isinstance(node, _DEFINITIONS):
            if node.name == first:
                yield from _find(node.body, rest) if rest else (node,)
        elif not rest and _binds(node, first):
            yield node
        else:
            yield from _find(_inside(node), names)


def _binds(node: ast.stmt, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    inside = (one for target in targets if isinstance(target, ast.expr) for one in ast.walk(target))
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in inside)


def _missing(tree: ast.Module, name: str) -> str:
    """Say why a name is not there: it is only imported, or called otherwise."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    if any(name == (alias.asname or alias.name) for node in imports for alias in node.names):
        return f"only an import of {name!r:.120}"
    defined = list(dict.fromkeys(_defined(tree.body)))
    last = name.rpartition(".")[2]
    near = [one for one in defined if one.rpartition(".")[2] == last] or difflib.get_close_matches(name, defined)
    return f"no {name!r:.120}{', but ' + ', '.join(near[:3]) if near else ''}"


def _defined(body: Iterable[ast.stmt], within: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, _DEFINITIONS):
            yield f"{within}{node.name}"
            yield from _defined(node.body, f"{within}{node.name}.")
        else:
            yield from _defined(_inside(node), within)


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that a statement holds: of a branch, a loop, a block."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _written(node: object) -> str:
    """Return a syntax tree as text; what is empty is left out, as newer versions have fields that older ones lack.

    Raises:
        CoveredError: nested beyond reading.
    """
    try:
        return _text(node)
    except RecursionError as error:
        raise _refused("code", "syntax nested beyond reading") from error


def _text(node: object) -> str:
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)  # which characters repr() escapes differs by the version's table of Unicode
    fields = []
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, _DEFINITIONS):
            value = _undocumented(node.body)
        elif name == "values" and isinstance(node, ast.JoinedStr):
            value = [part for part in node.values if getattr(part, "value", None) != ""]  # Python 3.12.1 has such parts
        is_empty = value == [] or (value is None and not isinstance(node, ast.Constant))
        if name in _LEFT_OUT or is_empty:
            continue
        fields.append(f"{name}={_text(value)}")
    return f"{type(node).__name__}({','.join(fields)})"


def _undocumented(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_docstring and isinstance(first.value.value, str) else body  # type: ignore[union-attr]


def _refused(target: str, saw: str) -> CoveredError:
    return CoveredError(
        refusal(
            subject=f'covered "{target:.200}"',
            expected="a file of this project, or a function in one (path, path:function or module:function)",
            saw=saw,
            means="Nobody could say later whether the number is still true of it.",
            action="Name what was measured.",
            unaffected="what was measured before",
        )
    )
