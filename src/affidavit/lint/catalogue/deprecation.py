"""What a library itself says against one of its names, where it says so in that name's own place.

A sentence about one value of a name ("the `keep_end` value is deprecated") is none about the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from affidavit.lint.catalogue.thing import Class

_LONG = 160
_KIND = r"(?:argument|parameter|option|flag|field|keyword argument)"
_OF_ITSELF = re.compile(
    rf"^\W*(?:deprecated\b|this {_KIND} (?:is|was|has been) deprecated)"
    r"|\bthis (?:argument|parameter|field|flag) (?:is|has been) (?:deprecated|no longer used)",
    re.IGNORECASE,
)
_NAMED = (
    r"(?:^|[\s(])(?:--|self\.)?[`'\"]{{1,2}}(?:--|self\.)?{name}[`'\"]{{1,2}}"
    "(?: " + _KIND + r")?(?: (?:of|in|to) \S+)? (?:is|are|was|has been) deprecated"
)
_WARNERS = frozenset({"warn", "warning", "warning_once", "rank_zero_deprecation", "deprecation_warning"})
_PLACES = ("__post_init__", "__init__")


def said_in_help(node: ast.AnnAssign, name: str) -> str:
    """Return what a field's ``help`` says against the field."""
    if not isinstance(node.value, ast.Call):
        return ""
    for one in node.value.keywords:
        texts: Iterable[ast.expr] = ()
        if one.arg == "metadata" and isinstance(one.value, ast.Dict):
            pairs = zip(one.value.keys, one.value.values, strict=True)
            texts = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "help"]
        elif one.arg in {"help", "description"}:
            texts = [one.value]
        for text in texts:
            if told := against(literal(text), name):
                return told
    return ""


def said_in_docstring(cls: Class, names: Iterable[str]) -> dict[str, str]:
    """Return what the docstring's own entry of a name says against it."""
    text = ast.get_docstring(cls.node) or ""
    if "deprecated" not in text.lower():
        return {}
    found: dict[str, str] = {}
    for name, entry in _entries(text):
        if name in names and (told := against(entry, name)):
            found[name] = told
    return found


def said_in_warnings(cls: Class, names: Mapping[str, object]) -> dict[str, str]:
    """Return what the construction of a class warns of, for names that the warning names."""
    found: dict[str, str] = {}
    for function in cls.node.body:
        if isinstance(function, ast.FunctionDef) and function.name in _PLACES:
            found.update(warned(function, names))
    return found


def warned(function: ast.AST, names: Iterable[str]) -> dict[str, str]:
    """Return the names that a function warns of as deprecated."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in _WARNERS or not node.args:
            continue
        text = literal(node.args[0])
        if "deprecated" not in text:
            continue
        for name in names:
            if name in text and _names(text, name):
                found.setdefault(name, shortened(text, name))
    return found


def against(text: str, name: str) -> str:
    """Return the sentence of a text about one name that says the name is deprecated, "" where none does."""
    text = " ".join(text.split())
    if "deprecated" not in text.lower():
        return ""
    if _OF_ITSELF.search(text) or _names(text, name):
        return shortened(text, name)
    return ""


def shortened(text: str, name: str) -> str:
    """Return the sentences from the one that says "deprecated" on, as far as a line of ours holds them."""
    sentences = re.split(r"(?<=[.!])\s+(?=[A-Z`])", " ".join(text.split()))
    first = next((index for index, one in enumerate(sentences) if "deprecated" in one.lower()), 0)
    found = " ".join(sentences[first : first + 2])
    return found if len(found) <= _LONG else f"{found[: _LONG - 3]}..."


def literal(node: ast.expr) -> str:
    """Return a text that is written out, in parts too; what is computed in it is left out."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(one) for one in node.values)
    if isinstance(node, ast.BinOp):
        return literal(node.left) + literal(node.right)
    if isinstance(node, (ast.Tuple, ast.List)):
        return " ".join(literal(one) for one in node.elts)
    if isinstance(node, ast.Call) and node.args:
        return literal(node.args[0])
    return ""


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """The entries of a docstring: a name, its kind in parentheses, a colon, and lines that are indented deeper."""
    name, depth, lines = "", 0, [""]
    for line in text.splitlines():
        found = re.match(r"^(\s*)(?:\[[^\]]*\]\s*)?`?(\w+)`?\s*\(.*\)?:?", line)
        indent = len(line) - len(line.lstrip())
        if found and (not name or indent <= depth) and "(" in line:
            if name:
                yield name, " ".join(lines)
            name, depth, lines = found[2], indent, [line.partition(":")[2] if line.rstrip().endswith(":") else line]
        elif name and line.strip() and indent <= depth:
            yield name, " ".join(lines)
            name = ""
        elif name:
            lines.append(line)
    if name:
        yield name, " ".join(lines)


def _names(text: str, name: str) -> bool:
    return bool(re.search(_NAMED.format(name=re.escape(name)), text))
