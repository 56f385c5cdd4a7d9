"""The headings of a Markdown or reST document: their numbers, and the anchors that a link may name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final
from unicodedata import category

_HEADING: Final = re.compile(r"^ {0,3}(?:(?:[-*+>] +)*#{1,6}[ \t]+(.+)|(?:={3,}|-{3,}|~{3,}|\^{3,})[ \t]*)$", re.M)
_NUMBER: Final = re.compile(r"^(?:§\s*|[Ss]ection\s+|[Cc]hapter\s+)?(\d{1,2}(?:\.\d{1,2})*)[.):]?\s+(\S.*)")
_TAGGED: Final = re.compile(r"""<\w[^<>]*?\s(?:id|name)\s*=\s*["']?([^"'\s<>]+)""")
_BRACED: Final = re.compile(r"\{[^{}\n]*?#([\w:.-]+)[^{}\n]*\}")
_LABEL: Final = re.compile(r"^\(([\w-]+)\)=", re.M)
_KEY: Final = re.compile(r"^ *([\w-]+):", re.M)
"""A key of the front matter: what an Internet-Draft cites is defined there, and can be linked to."""
_MARKUP: Final = re.compile(
    r"""(`+)(.+?)\1|!?\[([^\]]*)\]\([^)]*\)|</?[A-Za-z][\w-]*(?:\s+[\w:-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*\s*/?>"""
)
"""Code, links and tags in a heading: the words of the first two are the heading's."""
_LONGEST: Final = 500
"""What is longer is no title."""
_FENCE: Final = re.compile(r"^ {0,3}(?:[-*>] +)*(`{3,}|~{3,})(.*)$", re.M)


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


def document(text: str, plain: str | None = None) -> Document:
    """Read the headings of a document; what stands in a fenced block is no heading.

    Args:
        plain: the text without its fenced blocks, where somebody has it.
    """
    plain = prose(text) if plain is None else plain
    headings: list[Heading] = []
    anchors: set[str] = set()
    seen: Counter[str] = Counter()
    line, counted, last = 1, 0, 0
    for found in _HEADING.finditer(plain):
        line += plain.count("\n", counted, found.start())
        counted = found.start()
        title = (found[1] or "").rstrip(" \t#")[:_LONGEST].strip()
        if not title and last != line - 1:
            above = plain[plain.rfind("\n", 0, max(counted - 1, 0)) + 1 : counted].strip()
            title = "" if above.startswith("|") else above[:_LONGEST]
        if not title:
            continue
        words = _MARKUP.sub(lambda mark: mark[2] or mark[3] or "", title).replace("`", "")
        numbered = _NUMBER.match(words.strip("*_ "))
        number, name = (numbered[1], numbered[2]) if numbered else ("", words)
        headings.append(Heading(line if found[1] else line - 1, number, name.strip("*_ ")))
        last = line
        slug = _slug(words)
        anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    given = (_TAGGED, _BRACED, _LABEL) if ")=" in text else (_TAGGED, _BRACED)
    anchors.update(one.lower() for pattern in given for one in pattern.findall(text))
    if text.startswith("---\n"):
        anchors.update(one.lower() for one in _KEY.findall(text[: text.find("\n---", 4)]))
    return Document(tuple(headings), frozenset(anchors | {_bare(one) for one in anchors}))


def prose(text: str) -> str:
    """Return a text with its fenced blocks made empty, line for line."""
    kept: list[str] = []
    fence, opened, at = "", 0, 0
    for mark in _FENCE.finditer(text):
        if fence:
            if mark[1].startswith(fence) and not mark[2].strip():
                kept.append("\n" * text.count("\n", opened, mark.end()))
                fence, at = "", mark.end()
        elif "`" not in mark[2]:
            fence, opened = mark[1], mark.start()
            kept.append(text[at:opened])
    kept.append("\n" * text.count("\n", opened) if fence else text[at:])
    return "".join(kept)


def _slug(title: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
    return kept if kept.isascii() else "".join(one for one in kept if category(one) != "No")


def _bare(anchor: str) -> str:
    return re.sub(r"[\W_]", "", anchor.lower())
