"""The banner of a correction: inserted at the head of the section it is about, and told apart from what people wrote.

Every byte outside of it stays. :func:`without` gives back the document that was corrected, by whose digest it is known.

Blind to: setext and reST headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.claims.anchor.markdown import prose

_BLOCK: Final = re.compile(
    r"\r?\n<!-- affidavit:correction ([0-9a-f]{12}) #(\d+) -->\r?\n[^\r\n]*\r?\n"
    r"<!-- /affidavit:correction -->(?=\r?\n|\Z)"
)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(?:§[ \t]*)?((?:\d+(?:\.\d+)*)?)\.?[ \t]*([^\r\n]*)", re.MULTILINE)
_SLUG_LONG: Final = 60


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading of a document: its number, "" where it has none, its title, and where its line ends."""

    number: str
    title: str
    end: int

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:_SLUG_LONG].strip("-")

    @property
    def name(self) -> str:
        """How a section is called in a correction; "" where it has neither a number nor a word."""
        return f"section:{self.number or self.slug}" if self.number or self.slug else ""


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a document, in its order; code is not looked at."""
    for found in _HEADING.finditer(prose(text)):
        yield Heading(number=found[1], title=found[2].strip().strip("#").strip(), end=found.end())


def heading(text: str, section: str) -> Heading | None:
    """Return the first heading that has this number, this title, or this slug."""
    asked = section.removeprefix("section:").strip().removeprefix("§").strip().rstrip(".")
    return next((one for one in headings(text) if asked and asked in (one.number, one.title, one.slug)), None)


def without(text: str) -> str:
    """Return a document as it was before any banner was inserted."""
    kept, last = "", 0
    for block in _BLOCK.finditer(prose(text)):
        kept, last = kept + text[last : block.start()], block.end()
    return kept + text[last:]


def insert(text: str, at: Heading, said: str, *, digest: str, number: int) -> str:
    """Return a document with a banner under a heading, after those that stand there; as it is if this one does.

    Args:
        at: a heading of this very text.
        said: what the banner says, in one line.
    """
    seen = prose(text)
    if any((one[1], one[2]) == (digest[:12], str(number)) for one in _BLOCK.finditer(seen)):
        return text
    end = at.end
    while block := _BLOCK.match(seen, end):
        end = block.end()
    newline = "\r\n" if "\r\n" in text else "\n"
    flat = " ".join(said.split()).replace("<", "&lt;")
    lines = (f"<!-- affidavit:correction {digest[:12]} #{number} -->", f"> {flat}", "<!-- /affidavit:correction -->")
    return f"{text[:end]}{newline}{newline.join(lines)}{text[end:]}"
