"""Ids in comments: ``LIMIT = 145.5  # s, claim: encode-cache-rebuild``, in Python and wherever ``#`` begins one.

A docstring is prose, and its ids stand as they do there.

Blind to: a ``#`` in a string that goes over several lines, or in a here-document, which is read as a comment; ids in a
docstring that no measurement has, as those of an example do not.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from affidavit.claims.anchor.markdown import places as prose_places
from affidavit.claims.anchor.place import Place, Span

_BEFORE: Final = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
"""What stands before a string that is a statement by itself."""
_GOES_ON: Final = re.compile(r"[ \t]+[^\W\d_]")
_MARK: Final = re.compile(r"\bclaim:[ \t]*([A-Za-z0-9][\w.-]{0,200})", re.A)


def python_places(text: str) -> Iterator[Place]:
    """Yield each place of a script that carries an id; one that is no Python is read by its lines."""
    starts = _starts(text)
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError):
        yield from comment_places(text)
        return
    begins = True
    for token in tokens:
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if token.type == tokenize.COMMENT:
            yield from _places(text, starts[token.start[0] - 1], start, end)
        elif token.type == tokenize.STRING and begins and "claim:" in token.string:
            yield from _said(token.string, start)
        begins = token.type in _BEFORE or (begins and token.type == tokenize.COMMENT)


def _said(string: str, start: int) -> Iterator[Place]:
    """Yield the ids of a docstring at their place in the script."""
    for place in prose_places(string):
        spans = tuple(Span(start + span.start, start + span.end) for span in place.spans)
        at = Span(start + place.claim_at.start, start + place.claim_at.end)
        yield replace(place, claim_at=at, spans=spans, is_sentence=True)


def comment_places(text: str) -> Iterator[Place]:
    """Yield each place of a launcher or a config that carries an id."""
    start = 0
    for line in text.split("\n"):
        if "claim:" in line:
            mark = _comment(line)
            if mark is not None:
                yield from _places(text, start, start + mark, start + len(line))
        start += len(line) + 1


def _starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _comment(line: str) -> int | None:
    """Return where the comment of a line begins: at a ``#`` after a blank, outside of quotes that end on this line."""
    quote = ""
    escaped = False
    for at, sign in enumerate(line):
        if escaped:
            escaped = False
        elif sign == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"" and sign in line[at + 1 :]:
            quote = sign
        elif sign == "#" and (at == 0 or line[at - 1] in " \t;"):
            return at
    return None


def _places(text: str, line: int, comment: int, end: int) -> Iterator[Place]:
    """Yield the ids of one comment. Of one alone the number may stand all over the line, of several before each."""
    marks = [*_MARK.finditer(text, comment, end)]
    before = comment
    for mark in marks:
        name = mark[1].rstrip(".-")
        at = Span(mark.start(1), mark.start(1) + len(name))
        spans = [Span(before, mark.start())]
        is_code = [False]
        if len(marks) == 1:
            spans += [Span(at.end, end), Span(line, comment)]
            is_code += [False, True]
        elif before == comment:
            spans, is_code = [*spans, Span(line, comment)], [False, True]
        goes_on = _GOES_ON.match(text, at.end, end) is not None
        yield Place(
            claim=name,
            claim_at=at,
            spans=tuple(spans),
            is_code=tuple(is_code),
            comment=text[before : mark.start()],
            is_sentence=goes_on,
        )
        before = at.end
