"""Fields that are parsed and read by nobody, and options whose text is always true."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
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
        shown = "" if target.bases or target.why_open else "field"  # what an installed base reads is not known
        found += [Said(one.path, one.line, one.name, shown and one.name) for one in target.fields]
    return found


class ReadNames:
    """Every name that the files of a project read: attributes that are loaded, strings that are one word.

    They are gathered when the first one is asked for. Every name has been looked for in every file before, which costs
    more as soon as there are thirty of them.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._rest: list[bytes] = [source.raw for source in sources]

    @cached_property
    def names(self) -> frozenset[bytes]:
        """All of them."""
        found = frozenset[bytes]().union(*map(_reads, self._rest))
        self._rest = []
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.encode("utf-8", "replace") in self.names


def _reads(raw: bytes) -> set[bytes]:
    return {attribute or text for attribute, text in _READ.findall(raw)}


class Mentions:
    """How often a function is named in a project apart from its definition, counted once a name."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = tuple(sources)
        self._bare: dict[Path, bytes] = {}
        self._counted: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        if name not in self._counted:
            raw = name.encode()
            word = re.compile(rb"\b" + raw + rb"\b")
            holding = (source for source in self._sources if raw in source.raw)
            self._counted[name] = sum(len(word.findall(self._without_artless(source))) for source in holding)
        return self._counted[name]

    def _without_artless(self, source: Source) -> bytes:
        if source.path not in self._bare:
            self._bare[source.path] = _ARTLESS.sub(b"", source.raw)
        return self._bare[source.path]


def fields(
    builds: Iterable[Build],
    followed: Mapping[str, set[tuple[Path, int, int]]],
    sources: Iterable[Source],
    read: Container[str],
) -> tuple[tuple[Field, ...], int]:
    """Return the fields that nobody reads, and how many were looked at.

    Blind to: a field whose name is also read of something else; what only a file outside the project reads.
    """
    examined: dict[tuple[Path, int, str], str] = {}
    may_be_read: set[tuple[Path, int, str]] = set()
    mentions = Mentions(sources)
    for build in builds:
        is_open = not build.parses or build.whole or _escapes(build, followed, mentions)
        for one in declared(build):
            place = (one.path, one.line, one.name)
            examined[place] = one.shown
            if is_open or not one.shown or one.name in build.removed or one.name.startswith("_"):
                may_be_read.add(place)
    return (
        tuple(
            Field(
                path=path,
                line=line,
                name=name,
                kind="unread",
                said=f"{shown} is parsed and read nowhere in the project",
            )
            for (path, line, name), shown in examined.items()
            if (path, line, name) not in may_be_read and name not in read
        ),
        len(examined),
    )


def _flag(flags: tuple[str, ...]) -> str:
    """Return how an option is called, "" for a positional, which must be typed whether it is read or not."""
    long = [flag for flag in flags if flag.startswith("-") and f"--{flag.removeprefix('--no-')}" not in flags]
    return max(long, key=len) if long else ""


def _escapes(build: Build, followed: Mapping[str, set[tuple[Path, int, int]]], mentions: Mentions) -> bool:
    """Whether a function that hands the result back is named anywhere but in a call that was followed."""
    return any(mentions[name] > len(followed.get(name, ())) for name in build.returned)


def texts(source: Source) -> tuple[Field, ...]:
    """Return every ``add_argument(…, type=bool)`` of a file."""
    if not _BOOL.search(source.raw) or source.tree is None:
        return ()
    return tuple(
        Field(
            path=source.path, line=node.lineno, name=name, kind="bool", said="type=bool: any text is true, also False"
        )
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
