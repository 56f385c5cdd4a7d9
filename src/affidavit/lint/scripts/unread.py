"""Fields that are parsed and read by nobody, and options whose text is always true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from affidavit.lint.request import Field
from affidavit.lint.scripts.build import Build
from affidavit.lint.scripts.source import Source

_READ: Final = re.compile(rb"\.(\w+)\b(?![ \t]*=[^=])|[\"'](\w+)[\"']")
_BOOL: Final = re.compile(rb"type\s*=\s*bool\b")
_ARTLESS: Final = re.compile(rb"^[ \t]*(?:def|async[ \t]+def|from|import|class|#)\b[^\n]*", re.MULTILINE)


def names(raw: bytes) -> set[str]:
    """Return every name that a file reads: attributes that are loaded, strings that are one word."""
    found = set()
    for attribute, text in _READ.findall(raw):
        found.add(attribute or text)
    return {one.decode("utf-8", "replace") for one in found}


def fields(
    builds: Iterable[Build],
    followed: Mapping[str, set[tuple[Path, int, int]]],
    sources: Iterable[Source],
    read: set[str] | frozenset[str],
) -> tuple[tuple[Field, ...], int]:
    """Return the fields that nobody reads, and how many were looked at.

    Blind to: a field whose name is also read of something else; what only a file outside the project reads.
    """
    found: dict[tuple[Path, int, str], Field] = {}
    examined: set[tuple[Path, int, str]] = set()
    listed = tuple(sources)
    for build in builds:
        declared = [(one.path, one.line, one.dest, _flag(one.flags)) for one in build.options if one.dest in build.sure]
        for target in build.targets:
            declared += [(one.path, one.line, one.name, one.name) for one in target.fields]
        examined |= {(path, line, name) for path, line, name, _ in declared}
        if not build.parses or build.whole or _escapes(build, followed, listed):
            continue
        for path, line, name, shown in declared:
            if shown and name not in read and name not in build.removed and not name.startswith("_"):
                said = f"{shown} is parsed and read nowhere in the project"
                found[(path, line, name)] = Field(path=path, line=line, name=name, kind="unread", said=said)
    return tuple(found.values()), len(examined)


def _flag(flags: tuple[str, ...]) -> str:
    """Return how an option is called, "" for a positional, which must be typed whether it is read or not."""
    long = [flag for flag in flags if flag.startswith("-")]
    return max(long, key=len) if long else ""


def _escapes(build: Build, followed: Mapping[str, set[tuple[Path, int, int]]], sources: tuple[Source, ...]) -> bool:
    """Whether a function that hands the result back is named anywhere but in a call that was followed."""
    for name in build.returned:
        word = re.compile(rb"\b" + name.encode() + rb"\b")
        mentions = sum(
            len(word.findall(_ARTLESS.sub(b"", source.raw))) for source in sources if name.encode() in source.raw
        )
        if mentions > len(followed.get(name, ())):
            return True
    return False


def texts(source: Source) -> tuple[Field, ...]:
    """Return every ``add_argument(…, type=bool)`` of a file."""
    if not _BOOL.search(source.raw) or source.tree is None:
        return ()
    return tuple(
        Field(path=source.path, line=node.lineno, name=name, kind="bool", said=f"{name}: any text is true, also False")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and (name := _bool(node))
    )


def _bool(node: ast.Call) -> str:
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "add_argument":
        return ""
    words = {one.arg: one.value for one in node.keywords}
    kind = words.get("type")
    if not isinstance(kind, ast.Name) or kind.id != "bool" or "action" in words:
        return ""
    flags = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return max(flags, key=len) if flags else ""
