"""The banner of a correction: inserted at the head of the section it is about, and told apart from what people wrote.

Every byte outside of it stays. :func:`without` gives back the document that was corrected, by whose digest it is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from affidavit.lint.references.banners import WORDS, blocks, without
from affidavit.lint.references.headings import document, lines_of

__all__ = ["Heading", "blocks", "headings", "insert", "sections", "without"]

_LINE_END: Final = re.compile(r"\r\n|[\r\n]|\Z")
_NUMBERED: Final = re.compile(r"^(?:§|section\s|chapter\s)?\s*(\d+(?:\.\d+)*)[.):]?(?=\s|$)\s*")
_SLUG_LONG: Final = 60


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading of a document: its number, "" where it has none, its title, how a link calls it, where it stands.

    Args:
        name: how a section is called in a correction, no two alike; "" where it has neither a number nor a word.
        end: where its last line ends, before the mark of the line.
    """

    number: str
    title: str
    name: str
    anchor: str
    line: int
    end: int

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:_SLUG_LONG].strip("-")

    @property
    def called(self) -> str:
        return f"{self.number} {self.title}".strip()

    def goes_by(self, asked: str) -> bool:
        """Say whether this is what somebody asked for: by its number, its words, both, its name or its anchor."""
        if re.match(r"#[^#\s]", asked):
            return asked[1:].lower() == self.anchor
        plain = _NUMBERED.sub(lambda found: f"{found[1]} ", _plain(asked.lstrip("# ")), count=1).strip()
        known = (self.number, self.title, self.called, self.slug, self.anchor, self.name.removeprefix("section:"))
        return bool(plain) and plain in map(_plain, known)


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a document, in its order; code, comments and front matter are not looked at."""
    ends = [found.start() for found in _LINE_END.finditer(text)]
    taken: Counter[str] = Counter()
    for read in document(lines_of(text)).headings:
        at = {"line": read.line, "end": ends[read.last - 1]}
        one = Heading(number=read.number, title=read.title, name="", anchor=read.anchor, **at)
        known = one.number or one.slug or one.anchor
        yield replace(one, name=_unlike(f"section:{known}", taken)) if known else one


def sections(text: str, asked: str) -> tuple[Heading, ...]:
    """Return the headings that go by a number, a title, a name or an anchor: none, the one, or several alike."""
    known = tuple(headings(text))
    asked = asked.strip()
    exact = tuple(one for one in known if one.name == asked)
    return exact or tuple(one for one in known if one.goes_by(asked.removeprefix("section:").strip()))


def insert(text: str, at: Heading, said: str, *, digest: str, number: int) -> str:
    """Return a document with a banner under a heading, after those that stand there; as it is if this one does.

    Args:
        at: a heading of this very text.
        said: what the banner says, in one line.
    """
    standing = {block.start(): block for block in blocks(text)}
    if any((one[1], one[2]) == (digest[:12], str(number)) for one in standing.values()):
        return text
    end = at.end
    while end in standing:
        end = standing[end].end()
    marks = _LINE_END.match(text, at.end) or _LINE_END.search(text)
    newline = (marks and marks[0]) or "\n"
    flat = " ".join(said.split()).replace("<", "&lt;")
    flat = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in flat)  # no escape that steers
    lines = (f"<!-- {WORDS} {digest[:12]} #{number} -->", f"> {flat}", f"<!-- /{WORDS} -->")
    return f"{text[:end]}{newline}{newline.join(lines)}{text[end:]}"


def _plain(words: str) -> str:
    return re.sub(r"[*_`]", "", " ".join(words.casefold().split()))


def _unlike(name: str, taken: Counter[str]) -> str:
    """Return a name, or where a section before it has it, one with a number behind it that none has."""
    free = name
    while free in taken:
        free = f"{name}-{taken[name]}"
        taken[name] += 1
    taken[free] += 1
    return free
