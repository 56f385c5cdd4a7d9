"""Ids in the cells of a notebook: prose in those of Markdown, comments and docstrings in those of code.

A notebook is JSON, whose lines are strings. It is read as its author sees it, and each character keeps its place, so
that a number is mended in the file as it is.

Blind to: outputs, which a run writes anew; raw cells; notebooks of the third version, whose cells lie in worksheets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from affidavit.claims.anchor.comment import python_places
from affidavit.claims.anchor.markdown import places as prose_places
from affidavit.claims.anchor.place import Place, Span

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.S)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_SIGNS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_READERS: Final = {"markdown": prose_places, "code": python_places}
_CELL_DEEP: Final = 3
"""A cell is an object in a list in the notebook."""


@dataclass
class _Level:
    """An object or a list that is open, with the key whose value is read."""

    opening: str
    key: str = ""
    is_value: bool = False


@dataclass
class _Cell:
    kind: str = ""
    lines: list[Span] = field(default_factory=list)


def notebook_view(text: str) -> tuple[str, tuple[Place, ...]]:
    """Return a notebook as it is read, each character at its place and all else blank, with the places of its ids."""
    parts: list[str] = []
    found: list[Place] = []
    end = 0
    for cell in _cells(text):
        read = _READERS.get(cell.kind)
        if read is None or not cell.lines:
            continue
        start = cell.lines[0].start
        shown = _shown(text, cell.lines)
        parts += (" " * (start - end), shown)
        end = start + len(shown)
        found += (_moved(place, start) for place in read(shown))
    return "".join((*parts, " " * (len(text) - end))), tuple(found)


def _cells(text: str) -> Iterator[_Cell]:
    """Yield the cells of a notebook; what is no JSON has none, and its quotes would be searched for to the end."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return
    levels: list[_Level] = []
    cell = _Cell()
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "{[":
            levels.append(_Level(sign))
            cell = _Cell() if len(levels) == _CELL_DEEP else cell
        elif levels and sign in "}]":
            if len(levels) == _CELL_DEEP and levels[0].key == "cells":
                yield cell
            levels.pop()
        elif levels and sign in ":,":
            levels[-1].is_value = sign == ":"
        elif levels and sign[0] == '"':
            at = Span(token.start() + 1, token.end() - 1)
            if levels[-1].opening == "{" and not levels[-1].is_value:
                levels[-1].key = at.of(text)
            elif len(levels) == _CELL_DEEP and levels[-1].key == "cell_type":
                cell.kind = at.of(text)
            elif len(levels) in (_CELL_DEEP, _CELL_DEEP + 1) and levels[_CELL_DEEP - 1].key == "source":
                cell.lines.append(at)


def _shown(text: str, lines: list[Span]) -> str:
    """Return the lines of a cell as they are read, from the first to the end of the last."""
    parts: list[str] = []
    end = lines[0].start
    for line in lines:
        parts += (" " * (line.start - end), _ESCAPE.sub(_sign, line.of(text)))
        end = line.end
    return "".join(parts)


def _sign(escape: re.Match[str]) -> str:
    """Return what an escape stands for, as long as it is written."""
    sign = chr(int(escape[1], 16)) if escape[1] else _SIGNS.get(escape[2], escape[2])
    return sign.rjust(len(escape[0]))


def _moved(place: Place, by: int) -> Place:
    spans = tuple(Span(span.start + by, span.end + by) for span in place.spans)
    return replace(place, claim_at=Span(place.claim_at.start + by, place.claim_at.end + by), spans=spans)
