"""Anchors of a text: each id with the one number that it stands beside, or with why there is none.

Source: playbook §4.7.
Blind to: an id and its number on two lines of a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.claims.anchor.comment import comment_places, python_places
from affidavit.claims.anchor.markdown import places as markdown_places
from affidavit.claims.anchor.notebook import notebook_view
from affidavit.claims.anchor.place import MARKDOWN, NOTEBOOK, PYTHON, Place, Span
from affidavit.claims.anchor.unit import unit_in_comment, unit_in_name
from affidavit.claims.quantity import Quantity, quantities
from affidavit.claims.quantity.tail import Tail

NO_NUMBER, TWO_NUMBERS = "no number stands beside it", "two numbers stand beside it"
COMMA = "a comma is no decimal point here: write 4.3"
_BARE: Final = re.compile(
    r"(?:(?<![\w)\].,])[-+−])?(?<![\w.,])(?:(?:\d{1,3}(?:[,_]\d{3})+|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:[eE][-+]?\d{1,3})?(?!\w|[.,]\d)"
)
_COMMA: Final = re.compile(r"(?<![\w.,])\d+,\d{1,2}(?![\w.,])")
_NEXT: Final = re.compile(r"[\s,;:(\[*_]*claim:\s*")
_AROUND: Final = 4
_NEAR_MOST: Final = 800


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """An id in a text, and the number that it is said of.

    Args:
        claim: the id.
        claim_at: where it stands.
        line: the line of the id, from 1.
        at: where the number stands.
        written: the number as it stands there, with its unit where it has one.
        quantity: what it says, or None where it is a bare number.
        unit: what a bare number is said to be in beside it; None where it is in the unit of its measurement.
        near: the paragraph or the lines around, in which what it was measured on may be said.
        problem: why nothing can be held against the measurement, "" where something can.
        is_sentence: it is an id only where a measurement has its name.
    """

    claim: str
    claim_at: Span
    line: int
    at: Span
    written: str
    quantity: Quantity | None
    near: str
    unit: Tail | None = None
    problem: str = ""
    is_sentence: bool = False


def anchors(text: str, kind: str) -> tuple[Anchor, ...]:
    """Return the anchors of a text, in their order.

    Args:
        kind: how the text carries ids, as ``kind_of`` says; "" carries none.
    """
    if not kind or "claim:" not in text:
        return ()
    starts = _starts(text)
    if kind == NOTEBOOK:
        text, places = notebook_view(text)
    else:
        read = markdown_places if kind == MARKDOWN else python_places if kind == PYTHON else comment_places
        places = tuple(read(text))
    found = (_anchor(text, place, starts) for place in places)
    return tuple(sorted(found, key=lambda anchor: anchor.claim_at))


def _starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _anchor(text: str, place: Place, starts: list[int]) -> Anchor:
    line = bisect_right(starts, place.claim_at.start)
    at, quantity, problem = place.spans[0], None, place.problem
    if not problem:
        at, quantity, problem = _number(text, place)
    is_alone = not problem and quantity is None and not place.is_bound
    unit = unit_in_comment(place.comment) or unit_in_name(text[starts[line - 1] : at.start]) if is_alone else None
    return Anchor(
        claim=place.claim,
        claim_at=place.claim_at,
        line=line,
        at=at,
        written=at.of(text),
        quantity=quantity,
        near=_near(text, starts, line, place.claim_at.start),
        unit=unit,
        problem=problem,
        is_sentence=place.is_sentence,
    )


def _number(text: str, place: Place) -> tuple[Span, Quantity | None, str]:
    """Return where the number of a place stands, what it says where it has a unit, and why there is none.

    A bare number counts in a link and in program text. In a comment it does where nothing else is there: "53 checks".
    Of several the one right before the id is meant: "of 3 h, a rebuild is 145.5 s (claim: …)".
    """
    ways = [(span, place.is_bound or is_code) for span, is_code in zip(place.spans, place.is_code, strict=True)]
    ways += [(span, True) for span, takes_bare in ways if not takes_bare]
    for span, takes_bare in ways:
        inside = span.of(text)
        found = quantities(inside)
        bare = [Span(*one.span()) for one in _BARE.finditer(inside)] if takes_bare and not found else []
        at = [Span(one.start, one.end) for one in found] or bare
        is_next = len(at) > 1 and _NEXT.fullmatch(text, span.start + at[-1].end, place.claim_at.start) is not None
        if is_next and not (found and found[-1].whole):
            at, found = at[-1:], found[-1:]
        if len(at) > 1:
            return span, None, TWO_NUMBERS
        if at:
            return Span(span.start + at[0].start, span.start + at[0].end), found[0] if found else None, ""
        if takes_bare and _COMMA.search(inside):
            return span, None, COMMA
    return place.spans[0], None, NO_NUMBER


def _near(text: str, starts: list[int], line: int, at: int) -> str:
    """Return the lines around a place, up to an empty one, no more of each than a person would read."""
    kept = []
    for number in _block(text, starts, line):
        start, end = starts[number - 1], starts[number] - 1
        first = max(start, at - _NEAR_MOST // 2) if number == line else start
        kept.append(text[first : min(end, first + _NEAR_MOST)])
    return "\n".join(kept)


def _block(text: str, starts: list[int], line: int) -> Iterator[int]:
    first = last = line
    while first > 1 and line - first < _AROUND and _is_said(text, starts, first - 1):
        first -= 1
    while last < len(starts) - 1 and last - line < _AROUND and _is_said(text, starts, last + 1):
        last += 1
    yield from range(first, last + 1)


def _is_said(text: str, starts: list[int], line: int) -> bool:
    start = starts[line - 1]
    return bool(text[start : min(starts[line] - 1, start + _NEAR_MOST)].strip())
