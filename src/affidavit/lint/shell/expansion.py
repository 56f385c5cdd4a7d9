"""Words as the shell makes them: quotes, plain variables and arrays of the same file; the rest is left out and said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from affidavit.lint.shell.command import FOREIGN, UNSEEN, Word

Value = tuple[Word, ...]
"""What a variable holds: one word, or those of an array."""

_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r"\\([$`\"\\\n])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(r"[*?\[{]")
LONGEST = 4000
"""A variable that doubles itself would grow without end; what is longer is not followed."""


@dataclass
class _Making:
    """The words that one written word has become so far."""

    line: int
    words: list[Word] = field(default_factory=list)
    text: str = ""
    has_begun: bool = False

    def add(self, text: str) -> None:
        self.text += text
        self.has_begun = True

    def close(self) -> None:
        if self.has_begun:
            self.words.append(Word(text=self.text, line=self.line))
        self.text, self.has_begun = "", False

    def split(self, value: str) -> None:
        """Add the value of a variable that stands outside of quotes: every blank in it parts two words."""
        if value[:1].isspace():
            self.close()
        for place, piece in enumerate(value.split()):
            if place:
                self.close()
            self.add(piece)
        if value[-1:].isspace():
            self.close()


def expand(node: Any, values: Mapping[str, Value | None], *, is_quoted: bool = False) -> tuple[Word, ...]:
    """Return the words that one written word becomes.

    Args:
        node: a syntax node of a word, a string, an expansion or a concatenation of those.
        values: what is known of the variables; None for one whose value is not certain.
        is_quoted: nothing is split at blanks, as in an assignment.
    Blind to: globs, brace expansion, command substitution, ``$IFS``.
    """
    making = _Making(line=node.start_point[0] + 1)
    _add(making, node, values, is_quoted=is_quoted)
    making.close()
    return tuple(making.words)


def _add(making: _Making, node: Any, values: Mapping[str, Value | None], *, is_quoted: bool) -> None:
    kind = node.type
    text = node.text.decode("utf-8", "replace").replace(FOREIGN, UNSEEN)
    if kind in ("word", "number", "variable_name", "file_descriptor", "test_operator", "extglob_pattern", "regex"):
        special = _SPECIAL.search(text)
        if special:
            text = f"{text[: special.start()]}{UNSEEN}{text[special.start() :]}"
        making.add(_ESCAPE.sub(_unescaped, text))
    elif kind == "string":
        making.add("")
        for piece, child in _pieces(node):
            making.add(_QUOTED_ESCAPE.sub(_unescaped, piece.replace(FOREIGN, UNSEEN)))
            if child is not None:
                _add(making, child, values, is_quoted=True)
    elif kind == "raw_string":
        making.add(text[1:-1])
    elif kind == "ansi_c_string":
        making.add(_ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[2:-1]))
    elif kind in ("concatenation", "command_name", "translated_string"):
        for child in node.children:
            if child.is_named:
                _add(making, child, values, is_quoted=is_quoted)
    elif kind in ("simple_expansion", "expansion"):
        # The grammar counts a blank between two expansions of a string to the second one.
        bare = text.lstrip()
        if bare != text:
            making.add(text[: -len(bare)])
        _add_variable(making, bare, values, is_quoted=is_quoted)
    else:
        making.add(UNSEEN)


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _pieces(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the text of a string up to each expansion, and that; blanks between expansions belong to no node."""
    source, start = node.text, node.start_byte
    at = start + 1
    for child in node.named_children:
        if child.type != "string_content":
            yield source[at - start : child.start_byte - start].decode("utf-8", "replace"), child
            at = child.end_byte
    yield source[at - start : len(source) - 1].decode("utf-8", "replace"), None


def _add_variable(making: _Making, text: str, values: Mapping[str, Value | None], *, is_quoted: bool) -> None:
    plain = re.fullmatch(r"\$\{?(\w+)\}?", text)
    array = re.fullmatch(r"\$\{(\w+)\[([@*])\]\}", text)
    default = re.fullmatch(r"\$\{\w+:?-([\w./-]*)\}", text)
    found = plain or array
    value = values.get(found[1]) if found else None
    if value is None or (plain and len(value) != 1) or sum(len(word.text) for word in value) > LONGEST:
        making.add(UNSEEN + (default[1] if default else ""))
        return
    is_apart = not is_quoted or (array is not None and array[2] == "@")
    for place, word in enumerate(value):
        if place and is_apart:
            making.close()
        elif place:
            making.add(" ")
        if is_quoted:
            making.add(word.text)
        else:
            making.split(word.text)
