"""The headings of a Markdown or reST document: their numbers, and the anchors that a link may name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

_ATX: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$")
_UNDER: Final = re.compile(r"^ {0,3}(?:={3,}|-{3,}|~{3,}|\^{3,})[ \t]*$")
_NUMBER: Final = re.compile(r"^(?:§\s*|[Ss]ection\s+|[Cc]hapter\s+)?(\d{1,2}(?:\.\d{1,2})*)[.):]?\s+(\S.*)")
_GIVEN: Final = re.compile(
    r"""<\w+[^>]*?\s(?:id|name)\s*=\s*["']?([^"'\s>]+)|\{[^}\n]*#([\w:.-]+)[^}\n]*\}|^\(([\w-]+)\)=""", re.M
)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>")
_FENCE: Final = re.compile(r"^ {0,3}(?:[-*>] +)*(`{3,}|~{3,})")


@dataclass(frozen=True)
class Heading:
    """One heading: where it stands, its number if it has one, and its words."""

    line: int
    number: str
    title: str


@dataclass(frozen=True)
class Document:
    """What can be pointed at in a document."""

    headings: tuple[Heading, ...]
    anchors: frozenset[str]

    def at(self, number: str) -> Heading | None:
        """Return the heading of this number, or the first that stands below it."""
        inside = number + "."
        exact = next((one for one in self.headings if one.number == number), None)
        return exact or next((one for one in self.headings if one.number.startswith(inside)), None)

    def title(self, number: str) -> str:
        """Return the words of the heading of just this number."""
        return next((one.title for one in self.headings if one.number == number), "")

    @property
    def is_numbered(self) -> bool:
        return sum(1 for one in self.headings if one.number) > 1

    def has(self, anchor: str) -> bool:
        """Say whether an anchor is a heading's or was given; marks that renderers differ on are not held against it."""
        return anchor.lower() in self.anchors or _bare(anchor) in self.anchors


def document(text: str) -> Document:
    """Read the headings of a document; what stands in a fenced block is no heading."""
    headings: list[Heading] = []
    anchors: set[str] = set()
    seen: Counter[str] = Counter()
    last = ""
    for line, content in enumerate(prose(text).splitlines(), 1):
        atx = _ATX.match(content)
        under = None if atx else _UNDER.match(content)
        title = atx[1] if atx else last.strip() if under and last.strip() and not last.lstrip().startswith("|") else ""
        if title:
            plain = _LINK.sub(lambda found: found[1] or "", title).replace("`", "")
            numbered = _NUMBER.match(plain.strip("*_ "))
            number, words = (numbered[1], numbered[2]) if numbered else ("", plain)
            headings.append(Heading(line if atx else line - 1, number, words.strip("*_ ")))
            slug = _slug(plain)
            anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
        last = "" if title else content
    anchors.update((one[1] or one[2] or one[3]).lower() for one in _GIVEN.finditer(text))
    return Document(tuple(headings), frozenset(anchors | {_bare(one) for one in anchors}))


def prose(text: str) -> str:
    """Return a text with its fenced blocks made empty, line for line."""
    kept: list[str] = []
    fence = ""
    for content in text.splitlines():
        mark = _FENCE.match(content)
        if fence:
            kept.append("")
            if mark and mark[1].startswith(fence) and not content[mark.end() :].strip():
                fence = ""
        elif mark and "`" not in content[mark.end() :]:
            fence = mark[1]
            kept.append("")
        else:
            kept.append(content)
    return "\n".join(kept)


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def _bare(anchor: str) -> str:
    return re.sub(r"[\W_]", "", anchor.lower())
