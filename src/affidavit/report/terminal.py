"""Lines of toned text, and the one way they reach a terminal."""

from __future__ import annotations

import enum
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH = 80
"""The widest line that is drawn; a narrower terminal wraps earlier."""
_NARROWEST = 40
_MARKS_IN_ASCII = str.maketrans(
    dict(
        zip(
            ("✓", "✗", "·", "→", "—", "…", "×", "⟦", "⟧", "⏎", "␍", "⇥", "█", "░"),
            ("+", "x", "-", "->", "-", "...", "x", "[[", "]]", "\\n", "\\r", "\\t", "#", "."),
        )
    )
)
_JOINERS = "\u200c\u200d"
"""Invisible, and part of ordinary words and emoji: they are kept."""


class Tone(enum.Enum):
    """What a stretch of text is for; a drawing without colour loses nothing but the emphasis."""

    PLAIN = ""
    STRONG = "bold"
    FAINT = "dim"
    GOOD = "green"
    BAD = "bold red"
    DOUBT = "yellow"
    ACTION = "cyan"
    LIT = "bold black on green"


@dataclass(frozen=True)
class Span:
    """A stretch of text in one tone."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Line:
    """One paragraph: a head that stands in the margin, and a body that wraps beside it.

    The margin is ``indent`` columns wide on every drawn line, so a body can never forge a head.
    """

    body: tuple[Span, ...] = ()
    head: Span = Span("")
    indent: int = 0

    @property
    def text(self) -> str:
        """The line without tones and wrapping, for tests and for searching."""
        return f"{self.head.text:<{self.indent}}{''.join(span.text for span in self.body)}".rstrip()


def line(*body: Span | str, head: Span | str = "", indent: int = 0) -> Line:
    """Return a line; bare strings are plain."""
    spans = tuple(Span(part) if isinstance(part, str) else part for part in body)
    return Line(spans, Span(head) if isinstance(head, str) else head, indent)


def clean(text: str) -> str:
    """Return text in which no character can steer a terminal or hide: they are written as escapes.

    An ANSI sequence in a decoded token, or a right-to-left override in a path, would otherwise rewrite the report
    that exists to be believed.

    Source: CVE-2021-42574 (bidirectional overrides); Unicode categories Cc, Cf, Cs, Zl, Zp.
    Blind to: letters that merely look alike.
    """
    return "".join(letter if _is_harmless(letter) else _escaped(letter) for letter in text)


def _is_harmless(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escaped(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def wants_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Say whether a stream is a terminal that shows colour and nobody asked for none.

    Source: no-color.org; the ``TERM=dumb`` of editors and CI logs.
    """
    return stream.isatty() and not environment.get("NO_COLOR") and (environment.get("TERM") or "dumb") != "dumb"


def draw(lines: Iterable[Line], *, colour: bool = False, width: int = WIDTH, encoding: str = "utf-8") -> str:
    """Return terminal text: every character harmless, every line at most ``width`` columns wide, no trailing space.

    A character that the encoding does not have is written as its escape, and a mark of ours as the ASCII that stands
    for it, so that a log of a machine without UTF-8 says the same.

    Blind to: terminals that draw ambiguous-width characters two columns wide.
    """
    from rich.console import Console

    stream = StringIO()
    console = Console(
        file=stream,
        width=max(_NARROWEST, min(width, WIDTH)),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for drawn in lines:
        for row in _rows(_encodable(drawn, encoding), console):
            console.print(row, soft_wrap=True)
    return stream.getvalue()


def _encodable(drawn: Line, encoding: str) -> Line:
    spans = (drawn.head, *drawn.body)
    try:
        for span in spans:
            span.text.encode(encoding)
    except UnicodeEncodeError:
        head, *body = (replace(span, text=_in_encoding(clean(span.text), encoding)) for span in spans)
        return replace(drawn, head=head, body=tuple(body))
    return drawn


def _in_encoding(text: str, encoding: str) -> str:
    return text.translate(_MARKS_IN_ASCII).encode(encoding, "backslashreplace").decode(encoding)


def _rows(drawn: Line, console: Console) -> Iterator[Text]:
    """Yield the wrapped rows of one line, its head in the margin of the first."""
    from rich.text import Text

    body = Text.assemble(*((clean(span.text), span.tone.value) for span in drawn.body))
    rows = body.wrap(console, console.width - drawn.indent, overflow="fold") if body else [Text()]
    head = Text(clean(drawn.head.text), drawn.head.tone.value)
    if head.cell_len > drawn.indent:
        yield from head.wrap(console, console.width, overflow="fold")
        head = Text()
    for row in rows:
        margin = Text.assemble(head, " " * (drawn.indent - head.cell_len))
        head = Text()
        row.rstrip()
        if not row:
            margin.rstrip()
        yield Text.assemble(margin, row)
