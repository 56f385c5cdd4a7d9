"""JSON with lines and duplicate keys: checked by the standard library, then walked once by its tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from affidavit.lint.configs.document import MOST_ENTRIES, Document, Entry
from affidavit.lint.request import Unread

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')
_DEEPEST = 200


@dataclass
class _Open:
    """A mapping or a sequence that is not closed yet."""

    is_mapping: bool
    entries: list[Entry] = field(default_factory=list)
    rows: list[tuple[Entry, ...]] = field(default_factory=list)
    key: str | None = None
    line: int = 0


def read_json(path: Path, text: str) -> tuple[Document, ...] | Unread:
    """Return the mapping that a JSON file holds, or why it is no JSON."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return ()
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return Unread(path=path, line=error.lineno, why=f"no JSON: {error.msg}")
    except (RecursionError, ValueError):
        return ()
    entries = _walk(_tokens(text.removeprefix("\ufeff")))
    return () if entries is None else (Document(path=path, entries=entries),)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = 1
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token == "\n":
            line += 1
        else:
            yield token, line


def _walk(tokens: Iterator[tuple[str, int]]) -> tuple[Entry, ...] | None:
    """Return the entries of a text that is known to be valid; None where it is more than a config."""
    stack: list[_Open] = []
    count = 0
    for token, line in tokens:
        if token in "{[":
            stack.append(_Open(is_mapping=token == "{"))
            if len(stack) > _DEEPEST:
                return None
        elif token in "}]":
            closed = stack.pop()
            if not stack:
                return tuple(closed.entries)
            _put(stack[-1], Entry(key="", line=0, tag="map", inside=tuple(closed.entries)), closed)
        elif token not in ",:":
            top = stack[-1]
            if top.is_mapping and top.key is None:
                top.key, top.line = json.loads(token), line
                count += 1
                if count > MOST_ENTRIES:
                    return None
            else:
                _put(top, _scalar(token), None)
    return None


def _put(top: _Open, entry: Entry, closed: _Open | None) -> None:
    if closed is not None and not closed.is_mapping:
        entry = Entry(key="", line=0, tag="seq", rows=tuple(closed.rows))
    if not top.is_mapping:
        if entry.tag == "map":
            top.rows.append(entry.inside)
        return
    top.entries.append(replace(entry, key=top.key or "", line=top.line))
    top.key = None


def _scalar(token: str) -> Entry:
    if token.startswith('"'):
        return Entry(key="", line=0, tag="str", raw=json.loads(token, strict=False))
    kinds = {"true": "bool", "false": "bool", "null": "null"}
    number = "float" if re.search(r"[.eEN]", token) else "int"
    return Entry(key="", line=0, tag=kinds.get(token, number), raw=token, is_plain=True)
