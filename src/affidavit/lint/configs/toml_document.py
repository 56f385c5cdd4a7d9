"""TOML: what the standard library reads; the lines are looked up in the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from affidavit.lint.configs.document import Document, Entry
from affidavit.lint.request import Unread

_AT = re.compile(r"\(at line (\d+), column \d+\)$")
_KINDS = {bool: "bool", int: "int", float: "float", dict: "map", list: "seq"}


def read_toml(path: Path, text: str) -> tuple[Document, ...] | Unread:
    """Return the mapping that a TOML file holds, or why it is no TOML; a duplicate key is no TOML."""
    import tomllib

    try:
        loaded = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        why = _AT.sub("", str(error)).strip()
        return Unread(path=path, line=int(at.group(1)) if at else len(text.splitlines()) or 1, why=f"no TOML: {why}")
    except (RecursionError, ValueError):
        return ()
    return (Document(path=path, entries=_entries(loaded, text.splitlines(), 0)),)


def _entries(mapping: dict[str, Any], lines: list[str], start: int) -> tuple[Entry, ...]:
    made: list[Entry] = []
    for key, value in mapping.items():
        at = _line(key, lines, start)
        tag = _KINDS.get(type(value), "str")
        inside = _entries(value, lines, at) if isinstance(value, dict) else ()
        rows = tuple(_entries(row, lines, at) for row in value if isinstance(row, dict)) if tag == "seq" else ()
        raw = "" if tag in ("map", "seq") else str(value)
        plain = tag != "str"
        made.append(Entry(key=key, line=at + 1, tag=tag, raw=raw, is_plain=plain, inside=inside, rows=rows))
    return tuple(made)


def _line(key: str, lines: list[str], start: int) -> int:
    """Return the index of the line that a key stands in, the nearest line before it where it is not found."""
    word = re.escape(key)
    seen = re.compile(rf"^\s*(?:\[+[^\]]*\b{word}\b|.*?(?<![\w-])[\"']?{word}[\"']?\s*[.=])")
    return next((at for at in range(start, len(lines)) if seen.match(lines[at])), start)
