"""Fields that are parsed and read by nobody, and options whose text is always true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.lint.request import Field
from affidavit.lint.scripts.build import Build
from affidavit.lint.scripts.source import Source

_READ: Final = re.compile(rb"\.(\w+)\b(?![ \t]*=[^=])|[\"'](\w+)[\"']")
_BOOL: Final = re.compile(rb"type\s*=\s*bool\b")
_ARTLESS: Final = re.compile(rb"^[ \t]*(?:def|async[ \t]+def|from|import|class|#)\b[^\n]*", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """A name that is declared or set, where, and as a person would say it."""

    path: Path
    line: int
    name: str
    shown: str


def declared(build: Build) -> list[Said]:
    """Return every name that a parser declares and that each result has."""
    found = [Said(one.path, one.line, one.dest, _flag(one.flags)) for one in build.options if one.dest in build.sure]
    for target in build.targets:
        found += [Said(one.path, one.line, one.name, one.name) for one in target.fields]
    return found


def read(sources: Iterable[Source], candidates: Iterable[str]) -> frozenset[str]:
    """Return every name that the files read: attributes that are loaded, strings that are one word.

    Of files that were not walked only the candidates are looked for: nothing else is asked of them.
    """
    found: set[bytes] = set()
    rest: list[bytes] = []
    for source in sources:
        if source.frame is not None:
            for attribute, text in _READ.findall(source.raw):
                found.add(attribute or text)
        else:
            rest.append(source.raw)
    for name in {one.encode() for one in candidates} - found:
        if any(name in raw and _reads(raw, name) for raw in rest):
            found.add(name)
    return frozenset(one.decode("utf-8", "replace") for one in found)


def _reads(raw: bytes, name: bytes) -> bool:
    return any(name in pair for pair in _READ.findall(raw))


def fields(
    builds: Iterable[Build],
    followed: Mapping[str, set[tuple[Path, int, int]]],
    sources: Iterable[Source],
    read: frozenset[str],
) -> tuple[tuple[Field, ...], int]:
    """Return the fields that nobody reads, and how many were looked at.

    Blind to: a field whose name is also read of something else; what only a file outside the project reads.
    """
    found: dict[tuple[Path, int, str], Field] = {}
    examined: set[tuple[Path, int, str]] = set()
    listed = tuple(sources)
    for build in builds:
        said = declared(build)
        examined |= {(one.path, one.line, one.name) for one in said}
        if not build.parses or build.whole or _escapes(build, followed, listed):
            continue
        for one in said:
            if one.shown and one.name not in read and one.name not in build.removed and not one.name.startswith("_"):
                found[(one.path, one.line, one.name)] = Field(
                    path=one.path,
                    line=one.line,
                    name=one.name,
                    kind="unread",
                    said=f"{one.shown} is parsed and read nowhere in the project",
                )
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
