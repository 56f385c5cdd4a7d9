"""The headings of a Markdown or reST document: their numbers, and the anchors that a link may name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from unicodedata import category

_HEADING: Final = re.compile(r"^ {0,3}(?:(?:[-*+>] +)*#{1,6}[ \t]+(.+)|(?:={3,}|-{3,}|~{3,}|\^{3,})[ \t]*)$", re.M)
_NUMBER: Final = re.compile(r"^(?:§\s*|[Ss]ection\s+|[Cc]hapter\s+)?(\d{1,2}(?:\.\d{1,2})*)[.):]?(?:\s+(\S.*))?$")
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
_FRONT: Final = re.compile(r"---[ \t]*\n(?:#.*\n)*[\w.-]+[ \t]*:(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_HIDDEN: Final = re.compile(r"(?<!`)(`+)(?!`).{1,1000}?(?<!`)\1(?!`)|<!--(?s:.*?-->|.*)")
"""Code in a line, which may speak of comments, and comments."""
_ENDING: Final = re.compile(r"\r\n?")


@dataclass(frozen=True)
class Heading:
    """One heading: where it stands, its number if it has one, its words, its anchor, and the line that ends it."""

    line: int
    number: str
    title: str
    anchor: str
    last: int


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
    plain = _shown(text, prose(text) if plain is None else plain)
    headings: list[Heading] = []
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
        number, name = (numbered[1], numbered[2] or "") if numbered else ("", words)
        slug = _slug(words)
        anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1
        headings.append(Heading(line if found[1] else line - 1, number, name.strip("*_ "), anchor, line))
        last = line
    anchors = {one.anchor for one in headings}
    given = (_TAGGED, _BRACED, _LABEL) if ")=" in text else (_TAGGED, _BRACED)
    anchors.update(one.lower() for pattern in given for one in pattern.findall(text))
    if text.startswith("---\n"):
        anchors.update(one.lower() for one in _KEY.findall(text[: text.find("\n---", 4)]))
    return Document(tuple(headings), frozenset(anchors | {_bare(one) for one in anchors}))


def lines_of(text: str) -> str:
    """Return a text whose lines end alike, and which begins with no mark of its byte order."""
    text = text.removeprefix("\ufeff")
    return _ENDING.sub("\n", text) if "\r" in text else text


def prose(text: str) -> str:
    """Return a text with its fenced blocks made empty, line for line."""
    kept: list[str] = []
    at = 0
    for start, end in fenced(text):
        kept += (text[at:start], "\n" * text.count("\n", start, end))
        at = end
    return "".join((*kept, text[at:]))


def fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each fenced block of a text begins and ends."""
    if "```" not in text and "~~~" not in text:
        return
    fence, opened = "", 0
    for mark in _FENCE.finditer(text):
        if not fence:
            if "`" not in mark[2]:
                fence, opened = mark[1], mark.start()
        elif mark[1].startswith(fence) and not mark[2].strip():
            yield opened, mark.end()
            fence = ""
    if fence:
        yield opened, len(text)


def _shown(text: str, plain: str) -> str:
    """Return a text without its front matter and its comments, line for line."""
    front = _FRONT.match(text) if text.startswith("---") else None
    if front is not None:
        lines = front[0].count("\n")
        plain = "\n" * lines + "".join(plain.split("\n", lines)[lines:])
    return _HIDDEN.sub(_blank, plain) if "<!--" in plain else plain


def _blank(found: re.Match[str]) -> str:
    return found[0] if found[1] else re.sub(r"[^\n]", " ", found[0])


def _slug(title: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
    return kept if kept.isascii() else "".join(one for one in kept if category(one) != "No")


def _bare(anchor: str) -> str:
    return re.sub(r"[\W_]", "", anchor.lower())
