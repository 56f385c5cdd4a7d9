"""Ids in prose: ``[145.5 s](claim:encode-cache-rebuild)``, ``145.5 s (claim: …)``, or a number between two comments.

Blind to: ids in indented code, which are read; links whose text holds brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.claims.anchor.place import Place, Span

_LINK: Final = re.compile(
    r"\[([^\[\]]{0,300})\]\(\s*<?claim:[ \t]{0,9}([^()\s<>]{0,200})>?(?:\s+\"[^\"\n]{0,200}\")?\s*\)"
)
_OPENS: Final = re.compile(r"<!--[ \t]*claim:[ \t]*([^\s<>]{1,200})[ \t]*-->")
_WRITTEN: Final = re.compile(r"(?<!\])\([ \t]{0,9}claim:[ \t]{0,9}([A-Za-z0-9][A-Za-z0-9-]{0,200})[ \t]{0,9}\)")
_CLOSES: Final = re.compile(r"<!--[ \t]*/claim[ \t]*-->")
_FENCE: Final = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})([^\n]*)$", re.M)
_TICKS: Final = re.compile(r"`+|\n[ \t>]*\n")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_INNER_MOST: Final = 300


def places(text: str) -> Iterator[Place]:
    """Yield each place of a text that carries an id, in its order; code is not looked at."""
    seen = prose(text)
    shown = _COMMENT.sub(_blank, seen)
    for link in _LINK.finditer(shown):
        yield _bound(link[2], Span(*link.span(2)), Span(*link.span(1)))
    opened = [*_OPENS.finditer(seen)]
    for number, mark in enumerate(opened):
        following = opened[number + 1].start() if number + 1 < len(opened) else len(seen)
        closed = _CLOSES.search(seen, mark.end(), following)
        inner = Span(mark.end(), closed.start() if closed else mark.end())
        is_far = inner.end - inner.start > _INNER_MOST
        problem = "" if closed and not is_far else "no <!-- /claim --> follows it" if not closed else "its end is far"
        yield _bound(mark[1], Span(*mark.span(1)), inner, problem)
    yield from _written(shown)


def _written(shown: str) -> Iterator[Place]:
    """Yield numbers with an id in brackets behind them, as we write it into comments: 145.5 s (claim: …)."""
    before = 0
    for mark in _WRITTEN.finditer(shown):
        at, line = Span(*mark.span(1)), shown.rfind("\n", 0, mark.start()) + 1
        spans = (Span(max(line, before), mark.start()),)
        yield Place(claim=mark[1], claim_at=at, spans=spans, is_code=(False,), is_sentence=True)
        before = mark.end()


def _bound(claim: str, claim_at: Span, inner: Span, problem: str = "") -> Place:
    return Place(claim=claim, claim_at=claim_at, spans=(inner,), is_code=(False,), is_bound=True, problem=problem)


def prose(text: str) -> str:
    """Return a text with everything that is code in it blank, and every character where it was."""
    return _without_spans(_without_fences(text))


def _without_fences(text: str) -> str:
    kept: list[str] = []
    end = 0
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        marks, rest = fence[1], fence[2]
        if opening is None:
            if marks[0] == "`" and "`" in rest:
                continue  # that is code within a line
            kept.append(text[end : fence.start()])
            opening, end = fence, fence.start()
        elif marks[0] == opening[1][0] and len(marks) >= len(opening[1]) and not rest.strip():
            kept.append(_blanked(text[end : fence.end()]))
            opening, end = None, fence.end()
    rest = text[end:]
    return "".join((*kept, _blanked(rest) if opening is not None else rest))


def _without_spans(text: str) -> str:
    """Blank code within lines: from a run of backticks to the next of its length in the same paragraph."""
    kept: list[str] = []
    end = 0
    runs: list[tuple[int, int]] = []
    for found in [*_TICKS.finditer(text), None]:
        if found is not None and found[0][0] == "`":
            runs.append(found.span())
            continue
        for start, stop in _paired(runs):
            kept += (text[end:start], _blanked(text[start:stop]))
            end = stop
        runs = []
    return "".join((*kept, text[end:]))


def _paired(runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    next_of: dict[int, int] = {}
    partner: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        partner[at] = next_of.get(length)
        next_of[length] = at
    at = 0
    while at < len(runs):
        other = partner[at]
        if other is None:
            at += 1
            continue
        yield runs[at][0], runs[other][1]
        at = other + 1


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(found: re.Match[str]) -> str:
    return _blanked(found[0])
