"""JSON with lines and duplicate keys: checked by the standard library, then walked once by its tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.configs.document import MOST_ENTRIES, Document, Entry
from affidavit.lint.request import Unread

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')
_DEEPEST = 200
_LARGEST = 1 << 18
"""No training config is longer; what is, is data."""
_WORDS = {"true": "bool", "false": "bool", "null": "null"}
_Rows = tuple[tuple[Entry, ...], ...]


@dataclass
class _Open:
    """A mapping or a sequence that is not closed yet."""

    is_mapping: bool
    entries: list[Entry] = field(default_factory=list)
    rows: list[tuple[Entry, ...]] = field(default_factory=list)
    key: str | None = None
    line: int = 0

    def put(self, tag: str, raw: str = "", inside: tuple[Entry, ...] = (), rows: _Rows = ()) -> None:
        """Add a value: under the key that waits for it, or to the sequence."""
        if self.is_mapping:
            plain = tag not in ("str", "map", "seq")
            key, self.key = self.key or "", None
            self.entries.append(
                Entry(key=key, line=self.line, tag=tag, raw=raw, is_plain=plain, inside=inside, rows=rows)
            )
        elif tag == "map":
            self.rows.append(inside)


def read_json(path: Path, text: str) -> tuple[Document, ...] | Unread:
    """Return the mapping that a JSON file holds, or why it is no JSON; data is no config, and nothing is said of it."""
    if len(text) > _LARGEST or not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return ()
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.doc[error.pos] == "{":
            return ()  # one object after another, as a data set is written
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
        first = token[0]
        if first in "{[":
            stack.append(_Open(is_mapping=first == "{"))
            if len(stack) > _DEEPEST:
                return None
        elif first in "}]":
            closed = stack.pop()
            if not stack:
                return tuple(closed.entries)
            if closed.is_mapping:
                stack[-1].put("map", inside=tuple(closed.entries))
            else:
                stack[-1].put("seq", rows=tuple(closed.rows))
        elif first not in ",:":
            top = stack[-1]
            if top.is_mapping and top.key is None:
                top.key, top.line = _text(token), line
                count += 1
                if count > MOST_ENTRIES:
                    return None
            elif top.is_mapping:
                top.put(_tag(token), _text(token) if first == '"' else token)
    return None


def _text(token: str) -> str:
    return str(json.loads(token, strict=False)) if "\\" in token else token[1:-1]


def _tag(token: str) -> str:
    if token[0] == '"':
        return "str"
    return _WORDS.get(token) or ("float" if re.search(r"[.eEN]", token) else "int")
