"""Where a name that is not taken does no harm: caught, expected, or asked for first."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import Final

_WORDS: Final = (
    r"(?<!con)(?<!re)version|signature|hasattr|_?argspec|co_varnames|__code__|__(?:dataclass_)?fields__|model_fields"
    r"|\bparameters$|^fields$|_?supports?_|_supports?$|compat|legacy|issubclass|find_spec|^inspect$|^callable$"
    r"|deprecat|^has_[a-z]|^HAS_|^HAVE_|_AVAILABLE$|^is_.*_available$|^is_.*_greater|__annotations__|get_type_hints"
)
_SPEAKS: Final = re.compile(_WORDS)
_HARDWARE: Final = re.compile(
    r"^is_(?:torch_)?(?:cuda|gpu|npu|xpu|mps|mlu|musa|hpu|tpu|bf16\w*|tf32|fp16|torch_\w*(?:gpu|tf32|bf16)\w*)_available$"
)
_TOLD: Final = re.compile(
    rb"(?<!con)(?<!re)version|signature|hasattr|argspec|\.parameters\b|co_varnames|__fields__|\bfields\(|model_fields"
    rb"|_available\(|find_spec|issubclass"
)
_TELLING: Final = (
    *(b"version", b"signature", b"hasattr", b"argspec", b".parameters", b"co_varnames", b"__fields__", b"fields("),
    *(b"model_fields", b"_available(", b"find_spec", b"issubclass"),
)
_ASSIGNED: Final = re.compile(rb"[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=[^=\n]")
_ASKING: Final = re.compile(
    rb"^[ \t]*(?:async )?def (\w+)\([^\n]*\n(?:[^\n]*\n){0,12}?"
    rb"[^\n]*(?:__version__|signature\(|version\.parse|find_spec)",
    re.MULTILINE,
)
_HINTS: Final = (b"version", b"signature", b"hasattr", b"_available", b"fields", b"issubclass", b"find_spec")
_CAUGHT: Final = ("BaseException", "Exception", "TypeError", "ValueError", "AttributeError", "Error")
_EXPECTING: Final = re.compile(r"raises|assertRaises\w*|suppress|warns_or_raises")
_SKIPPING: Final = re.compile(r"skip|xfail|expectedFailure|version|raises")


def probes(raw: bytes) -> set[str]:
    """Return the names of a file that say what is installed: variables and functions, by their bytes."""
    if not any(word in raw for word in _HINTS):
        return set()
    found: set[str] = set()
    for place in _places(raw):
        assigned = _ASSIGNED.match(raw, raw.rfind(b"\n", 0, place) + 1, place)
        if assigned is not None and _TOLD.match(raw, place):
            found.add(assigned.group(1).decode())
    if b"__version__" in raw or b"signature(" in raw or b"version.parse" in raw or b"find_spec" in raw:
        found |= {match.decode() for match in _ASKING.findall(raw)}
    return found


def _places(raw: bytes) -> Iterator[int]:
    """Yield where a file may speak of what is installed; bytes are found faster than patterns."""
    for word in _TELLING:
        place = raw.find(word)
        while place >= 0:
            yield place
            place = raw.find(word, place + 1)


def speaks(test: ast.expr, knows: Callable[[str], bool]) -> str:
    """Return how a test asks what is installed, "" where it does not.

    ``knows`` says of a name of the project whether it holds such an answer.
    """
    for word in words(test):
        if _asks(word) or knows(word):
            return f'behind a test of "{word}"'
    return ""


def asked(test: ast.expr) -> frozenset[str]:
    """Return the names that a test asks for by their text: ``"old" in given``, ``given.get("old")``.

    What it then sets under the same name is passed on from somebody who gave it, and never set where nobody did.
    """
    found: list[ast.expr] = []
    for node in _parts(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found.append(node.left)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            found += node.args[:1]
    return frozenset(one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str))


@functools.cache
def _asks(word: str) -> bool:
    return _SPEAKS.search(word) is not None and _HARDWARE.match(word) is None


def words(test: ast.expr) -> Iterator[str]:
    """Yield the names and attributes of an expression."""
    for node in _parts(test):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _parts(test: ast.expr) -> Iterator[ast.AST]:
    """Yield an expression and all that is in it; tests are many, and ast.walk is slow."""
    queue: list[object] = [test]
    while queue:
        node = queue.pop()
        if isinstance(node, list):
            queue += node
        elif isinstance(node, ast.expr):
            yield node
            if type(node) is not ast.Name and type(node) is not ast.Constant:
                queue += node.__dict__.values()
        elif isinstance(node, ast.keyword | ast.comprehension):
            queue += node.__dict__.values()


def caught(handlers: list[ast.ExceptHandler]) -> str:
    """Return which handler of a try would swallow the refusal of a name, "" where none would."""
    for handler in handlers:
        names = _names(handler.type) if handler.type is not None else ["everything"]
        swallowed = [name for name in names if name in _CAUGHT or name == "everything"]
        if swallowed and not _raises(handler):
            return f"inside except {swallowed[0]}" if handler.type is not None else "inside a bare except"
    return ""


def refuses_import(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether a try is about what can be imported."""
    names = [name for handler in handlers for name in (_names(handler.type) if handler.type else ["Exception"])]
    return any(name in ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception") for name in names)


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler always ends in an error: no statement that could end otherwise, then a raise or an exit."""
    *before, last = handler.body
    if not all(isinstance(one, ast.Expr | ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom) for one in before):
        return False
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return dotted(last.value.func) in ("sys.exit", "exit", "quit", "os._exit")
    return isinstance(last, ast.Raise)


def _names(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [dotted(part).rpartition(".")[2] for part in parts]


def expects(item: ast.expr) -> str:
    """Return which ``with`` expects or swallows an error, "" where none does."""
    if isinstance(item, ast.Call):
        name = dotted(item.func)
        if _EXPECTING.fullmatch(name.rpartition(".")[2]):
            return f"inside {name}"
    return ""


def decorated(decorators: list[ast.expr]) -> str:
    """Return which decorator says that a function may not run here, "" where none does."""
    for decorator in decorators:
        name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if _SKIPPING.search(name):
            return f"under @{name}"
    return ""


def shielded(tree: ast.Module) -> set[str]:
    """Return the functions that a file calls inside ``except TypeError``: what they do may be refused there."""
    found = set()
    for node in _statements(tree):
        if isinstance(node, ast.Try) and any(
            handler.type is not None and "TypeError" in _names(handler.type) and not _raises(handler)
            for handler in node.handlers
        ):
            for statement in node.body:
                for call in ast.walk(statement):
                    if isinstance(call, ast.Call):
                        found.add(dotted(call.func).rpartition(".")[2])
    return found - {""}


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement, without a look at what is in it."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                queue += inner


def dotted(node: ast.expr) -> str:
    """Return an expression's dotted name; what is no name becomes ""."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
