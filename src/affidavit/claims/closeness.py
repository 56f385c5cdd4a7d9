"""Whether a number says an old value of a claim, or only stands beside words of one: by its sentence, or its row.

"Rebuilding the encode cache takes 4.3 h. Evaluation takes 4.3 h, too." has one copy and not two. What shares words
with a claim in another sentence only waits for a person, and is mended by nobody else.

Blind to: the subject of a sentence that stands in the one before it; wrapped lines of docstrings, which are read alone.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.claims.anchor.place import MARKDOWN
from affidavit.claims.copies import Told
from affidavit.claims.copies.words import stems, weight

_SHARE: Final = 0.5
"""The part of the id's words that a sentence must have, as heavy as they are."""
_REACH: Final = 1200
_SENTENCE: Final = r"[.!?][)\"'\]*_]*(?:[ \t]*\n|[ \t]+(?=[A-Z\"'(\[]))|\n[ \t#>]*\n"
_ENDS: Final = re.compile(rf"{_SENTENCE}|\n[ \t>#]*(?:[-*+]|\d{{1,3}}[.)])[ \t]")
_ENDS_OF_PROSE: Final = re.compile(rf"{_ENDS.pattern}|\n[ \t>]*#{{1,6}}[ \t]")
_SHORT: Final = re.compile(r"\b(?:approx|appr|ca|vs|cf|e\.g|i\.e|resp|max|min|est|avg|no|fig|sec)\.[ \t]*[~≈]?\Z", re.I)
_ROW: Final = re.compile(r"[ \t>]*\|")
_COMMENT: Final = re.compile(r"[ \t]*#")


def is_close(told: Told, text: str, start: int, end: int, kind: str) -> bool:
    """Say whether the sentence or the row of a number speaks of a claim.

    Args:
        start, end: where the number stands in the text.
        kind: how the text carries ids, as ``kind_of`` says.
    """
    own = sum(map(weight, told.own))
    said = stems(_around(text, start, end, kind)).keys()
    return own > 0 and sum(map(weight, told.own.keys() & said)) >= _SHARE * own


def _around(text: str, start: int, end: int, kind: str) -> str:
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if kind == MARKDOWN and _ROW.match(text, line):
        return f"{_head(text, line)}\n{text[max(line, start - _REACH) : min(stop, end + _REACH)]}"
    if kind != MARKDOWN:
        line, stop = _comment(text, line, stop)
    else:
        line, stop = 0, len(text)
    before, after = text[max(line, start - _REACH) : start], text[end : min(stop, end + _REACH)]
    begins = "x" if _SHORT.search(before) else "X"  # whether the number may begin a sentence
    ends = _ENDS_OF_PROSE if kind == MARKDOWN else _ENDS
    ended = max((found.end() for found in ends.finditer(before + begins)), default=0)
    follows = ends.search(after)
    return before[ended:] + text[start:end] + after[: follows.start() if follows else None]


def _head(text: str, row: int) -> str:
    """Return the first row of a table, without the one at which we are."""
    first = row
    while first > 0:
        above = text.rfind("\n", 0, first - 1) + 1
        if row - above > _REACH * 4 or not _ROW.match(text, above):
            break
        first = above
    return text[first : text.find("\n", first)][:_REACH] if first != row else ""


def _comment(text: str, line: int, stop: int) -> tuple[int, int]:
    """Return from where to where the lines go that are one comment, or the line alone where it is none."""
    if not _COMMENT.match(text, line):
        return line, stop
    first = line
    while first > 0 and line - first < _REACH:
        above = text.rfind("\n", 0, first - 1) + 1
        if not _COMMENT.match(text, above):
            break
        first = above
    while stop < len(text) and _COMMENT.match(text, stop + 1):
        below = text.find("\n", stop + 1)
        below = len(text) if below < 0 else below
        if below - line > _REACH * 2:
            break
        stop = below
    return first, stop
