"""A simple command of a shell script: its words after expansion, as far as the file itself says what they become."""

from __future__ import annotations

from dataclasses import dataclass

UNSEEN = "\0"
"""Stands in a word where something is only known at run time; a default that is written there follows it."""

FOREIGN = "\x1a"
"""Stands in the text that is parsed for a character that is no ASCII; in a word it is not known either."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word that a command gets.

    ``text`` is what it becomes, quotes removed. One that holds :data:`UNSEEN` may be any number of words.
    """

    text: str
    line: int

    @property
    def is_sure(self) -> bool:
        return UNSEEN not in self.text

    @property
    def head(self) -> str:
        """Return the text before the first part that is not known."""
        return self.text.partition(UNSEEN)[0]

    @property
    def guess(self) -> str:
        """Return the text with defaults in the place of what is not known."""
        return self.text.replace(UNSEEN, "")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A simple command.

    Args:
        words: the program and its arguments.
        line: where it begins.
        assigned: the variables that are set for it alone: ``CUDA_VISIBLE_DEVICES=0 python …``.
        fed: the text of a here-document that it reads, "" where there is none, and the line before its first.
        folder: what ``cd`` was last told in the file, "" before that; "?" where that is not known.
    """

    words: tuple[Word, ...]
    line: int
    assigned: tuple[str, ...] = ()
    fed: str = ""
    fed_line: int = 0
    folder: str = ""

    @property
    def name(self) -> str:
        """Return the program as it is written, "" where it is not known."""
        return self.words[0].guess if self.words else ""
