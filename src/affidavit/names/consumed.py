"""Whether a name that a callable swallowed is read by anybody: by the script itself, or by a library that is loaded.

A signature with ``**kwargs`` refuses nothing, and a closed list of what is read behind it rejects names that matter.
So it is the other way round: a name is unread only where no source that is loaded reads it. A library speaks of a name
where any of its code does; the script, which wrote the name down to hand it over, has to read it: an attribute, or a
string that is no key and no keyword.

Source: anchors-mechanisms C2; hf-stack-spike §1 ("accepted and ignored").
Blind to: a word that a library knows and reads somewhere else; readers that are loaded later, or in another process.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType

_SITES = ("site-packages", "dist-packages")
_REMOTE = "transformers_modules"
_HOME = str(Path(__file__).resolve().parents[1])
_SHOWN = str(Path(__file__).resolve().parents[1] / "demo")
_LARGEST = 4 << 20
_MUTE = frozenset(
    ("torch", "numpy", "scipy", "pandas", "pyarrow", "sympy", "sklearn", "networkx", "matplotlib", "PIL", "affidavit")
)
"""Packages that nobody hands a model's or a tokenizer's names to; they are most of what is loaded."""


@functools.lru_cache(maxsize=4096)
def is_own(filename: str) -> bool:
    """Whether code is the script's: not a library's, not the standard library's, not ours, not a model's own code."""
    if filename.startswith("<") or any(place in filename for place in (*_SITES, _REMOTE)):
        return False
    path = str(Path(filename).resolve())
    if path.startswith(_HOME):
        return path.startswith(_SHOWN)
    return not path.startswith(_standard()) and not any(place in path for place in _SITES)


@functools.lru_cache(maxsize=1)
def _standard() -> str:
    return str(Path(ast.__file__).resolve().parent)


def caller(frame: FrameType | None) -> FrameType | None:
    """Return the frame itself where it is the script's own."""
    return frame if frame is not None and is_own(frame.f_code.co_filename) else None


def is_read_by_script(names: Iterable[str]) -> frozenset[str]:
    """Return which of some names the script's own modules read, as far as they are loaded.

    A notebook's cells are no file and may read anything: then it is all of them.
    """
    asked = frozenset(names)
    found: set[str] = set()
    main = sys.modules.get("__main__")
    if main is not None and getattr(main, "__file__", None) is None:
        return asked
    for path in _own_files():
        raw = _bytes(path)
        if any(name.encode() in raw for name in asked):
            found |= _own_reads(raw.decode("utf-8", "replace"), asked - found)
    return frozenset(found)


def is_said_by_library(names: Iterable[str]) -> frozenset[str]:
    """Return which of some names the code of a loaded library speaks of; a comment or a docstring says nothing."""
    asked = frozenset(names)
    found: set[str] = set()
    if not asked:
        return frozenset()
    for path in _library_files():
        left = asked - found
        if not left:
            break
        raw = _bytes(path)
        if any(name.encode() in raw for name in left):
            found |= _spoken(raw.decode("utf-8", "replace"), left)
    return frozenset(found)


def literals(text: str) -> frozenset[str]:
    """Return the string literals of a source that are no docstrings."""
    return frozenset(
        node.value
        for node in ast.walk(_parsed(text) or ast.Module([], []))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80
    )


def unread(names: Iterable[str]) -> frozenset[str]:
    """Return which of some names nobody reads, as far as what is loaded can say."""
    left = frozenset(names)
    left -= is_read_by_script(left)
    return left - is_said_by_library(left)


def set_at(name: str) -> tuple[str, int] | None:
    """Return where a module of the script sets an attribute; None where none does, or where an object sets its own."""
    for path in _own_files():
        raw = _bytes(path)
        tree = _parsed(raw.decode("utf-8", "replace")) if name.encode() in raw else None
        for node in ast.walk(tree or ast.Module([], [])):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name:
                is_its_own = isinstance(node.value, ast.Name) and node.value.id == "self"
                return None if is_its_own else (path, node.lineno)
    return None


def _own_files() -> Iterator[str]:
    for module in tuple(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and is_own(path):
            yield path


def _library_files() -> Iterator[str]:
    for name, module in tuple(sys.modules.items()):
        path = getattr(module, "__file__", None)
        package = name.partition(".")[0]
        if not isinstance(path, str) or not path.endswith(".py") or package in _MUTE:
            continue
        if any(place in path for place in (*_SITES, _REMOTE)):
            yield path


def _bytes(path: str) -> bytes:
    try:
        raw = Path(path).read_bytes()
    except OSError:  # torch.ops says that it lies in "_ops.py"
        return b""
    return raw if len(raw) < _LARGEST else b""


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _in(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return which names stand in a text as words; a substring is looked for first, that is faster by far."""
    return frozenset(name for name in names if name in text and re.search(rf"\b{re.escape(name)}\b", text))


def _spoken(text: str, names: frozenset[str]) -> frozenset[str]:
    there = _in(text, names)
    tree = _parsed(text) if there else None
    if tree is None:
        return there
    return there & frozenset(_words(tree))


def _words(tree: ast.Module) -> Iterator[str]:
    """Yield every name that code says: attributes, strings that are one word, parameters, keywords, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, (ast.arg, ast.keyword)) and node.arg:
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _own_reads(text: str, names: frozenset[str]) -> frozenset[str]:
    there = _in(text, names)
    tree = _parsed(text) if there else None
    if tree is None:
        return there
    handed = _handing(tree)
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in handed:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A template of the script's own is a longer string; there the name is a word of it.
            found |= _in(node.value, there) if "{" in node.value else {node.value}
    return there & found


def _handing(tree: ast.Module) -> frozenset[int]:
    """Return the nodes that hand a name over and do not read it: keys, and what is passed on under its own name."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found.update(id(key) for key in node.keys if key is not None)
            found.update(id(value) for key, value in zip(node.keys, node.values) if _is_same(_word(key), value))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(id(node.slice))
        elif isinstance(node, ast.keyword) and _is_same(node.arg, node.value):
            found.add(id(node.value))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.attr for target in targets if isinstance(target, ast.Attribute)}
            if node.value is not None and any(_is_same(name, node.value) for name in names):
                found.add(id(node.value))
    return frozenset(found)


def _word(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_same(name: str | None, value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and bool(name) and value.attr == name


def astray(item: object, names: Mapping[str, object]) -> dict[str, str]:
    """Return which of the names handed to a constructor were only put aside on what it made, and where.

    An attribute that the class itself knows (a property, a field, an alias) is in its place.
    """
    own = getattr(item, "__dict__", {})
    bag = own.get("init_kwargs")
    aliases = getattr(type(item), "attribute_map", None) or {}
    found: dict[str, str] = {}
    for name in names:
        if hasattr(type(item), name) or name in aliases:
            continue
        if name in own:
            found[name] = "an attribute that was made for it"
        elif isinstance(bag, dict) and name in bag:
            found[name] = "init_kwargs, which keeps what it does not know"
    return found
