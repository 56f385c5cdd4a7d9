"""What stands around a number: its line, its paragraph or comment, its heading or function, and the name of its file.

Source: playbook §4.7; anchors-mechanisms C7 (same dimension, within rounding, and shared words).
The other rows of a table speak of other things; only its head is about every row.

Blind to: a paragraph of more than four lines before or after the number; headings of reStructuredText.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Final

from affidavit.claims.copies.former import Told
from affidavit.claims.copies.words import stems, weight

_REACH: Final = 4
"""Lines before and after that may belong to a number."""
_BLANK: Final = re.compile(r"[\s#/*>\-;%\"'=|]*\Z")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.+)$", re.M)
_SCOPE: Final = re.compile(r"^[ \t]*(?:async[ ]+def|def|class|function)[ ]+(\w+)", re.M)
_PROSE: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".txt", ".qmd", ".rmd", ".html"})
_ABOVE_MOST: Final = 20000
"""Characters in which a heading is looked for."""
_LINE, _PARAGRAPH, _ABOVE = 1.0, 0.8, 0.6
_OTHER: Final = 0.4
"""What a word of a claim's surroundings weighs beside a word of its id."""


@dataclass(frozen=True)
class Context:
    """Stems by where they stand; ``above`` is the heading or the function, in words."""

    line: frozenset[str]
    paragraph: frozenset[str]
    over: frozenset[str]
    above: str

    def at(self, stem: str) -> float:
        if stem in self.line:
            return _LINE
        return _PARAGRAPH if stem in self.paragraph else _ABOVE if stem in self.over else 0.0


@dataclass(frozen=True)
class Kinship:
    """How much a place speaks of a claim: ``share`` of its id's words, and what all shared words weigh together."""

    share: float
    weight: float
    words: tuple[str, ...]
    above: bool


class Surroundings:
    """What stands around the numbers of one text, whose headings are read once."""

    def __init__(self, path: PurePath, text: str) -> None:
        self._text = text
        self._pattern = _HEADING if path.suffix.lower() in _PROSE else _SCOPE
        self._names = frozenset(stems(" ".join((*path.parts[-2:-1], path.stem))))

    def of(self, start: int, end: int) -> Context:
        """Return what stands around a line."""
        text = self._text
        before = text[max(0, start - 4000) : start].split("\n")[:-1]
        after = text[end + 1 : end + 2000].split("\n")
        line = text[start:end]
        is_row = line.lstrip().startswith("|")
        paragraph = _head_of_table(before) if is_row else [*_paragraph(reversed(before)), *_paragraph(after)]
        above = self._above(start)
        return Context(
            line=frozenset(stems(line)),
            paragraph=frozenset(stem for one in paragraph for stem in stems(one[:400])),
            over=self._names.union(stems(above)),
            above=above,
        )

    def _above(self, at: int) -> str:
        """Return the heading or the function over a place, "" where none is near."""
        found = bisect_left(self._starts, at) - 1
        return self._heads[found] if found >= 0 and self._starts[found] >= at - _ABOVE_MOST else ""

    @cached_property
    def _starts(self) -> list[int]:
        return [found.start() for found in self._found]

    @cached_property
    def _heads(self) -> list[str]:
        return [found[1].strip()[:120] for found in self._found]

    @cached_property
    def _found(self) -> list[re.Match[str]]:
        return [*self._pattern.finditer(self._text)]


def kinship(told: Told, context: Context) -> Kinship:
    """Return how much a place speaks of a claim."""
    own, around = ({stem: context.at(stem) for stem in words} for words in (told.own, told.around))
    whole = sum(weight(stem) for stem in told.own)
    shared = sum(weight(stem) for stem, place in own.items() if place)
    weighed = sum(weight(stem) * place for stem, place in own.items())
    beside = sum(weight(stem) * place * _OTHER for stem, place in around.items())
    near = {stem: place for stem, place in {**own, **around}.items() if place}
    said = {**told.around, **told.own}
    words = tuple(said[stem] for stem in sorted(near, key=lambda stem: (-near[stem] * weight(stem), stem)))
    return Kinship(
        share=shared / whole if whole else 0.0,
        weight=weighed + beside,
        words=words,
        above=any(place == _ABOVE for place in near.values()),
    )


def _paragraph(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        if len(found) == _REACH or _BLANK.match(line):
            break
        found.append(line)
    return found


def _head_of_table(before: list[str]) -> list[str]:
    head = ""
    for line in reversed(before):
        if not line.lstrip().startswith("|"):
            break
        head = line
    return [head]
