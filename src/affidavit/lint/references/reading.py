"""Who points where in a repository's text, and what no longer stands there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from affidavit.lint.files import DOCUMENTS
from affidavit.lint.references.earlier import ignored, top_of
from affidavit.lint.references.headings import Document, document, prose

LARGEST_BYTES: Final = 2 << 20
"""What is larger is data, or was generated."""
_LINK: Final = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)")
_DEFINED: Final = re.compile(r"\n {0,3}\[[^\]^\n]+\]:\s+<?([^\s<>]+)>?")
_SECTION: Final = r"(?:§\s?|[Ss]ection\s|[Ss]ec\.\s?)(\d{1,2}(?:\.\d{1,2})*)(?![\d\w%-])"
_NAMED: Final = re.compile(r"(?<![\w./-])([\w./-]+\.(?:md|markdown|rst))[`)\]]*,?\s" + _SECTION)
_OWN: Final = re.compile(
    r"(?:^|[(,;:]|\b(?:see|in|and|to|from|by|under|per))[ \t]*" + _SECTION + r"(?! +of\b)", re.I | re.M
)
_NUMBERED: Final = re.compile(r"(?:§|ection|ECTION|ec\.|EC\.)\s?\d")
_CODE: Final = re.compile(r"`(?<!``)(?:[^`]{1,1000}`(?!`)|(`+)(?!`).{1,1000}?(?<!`)`\1(?!`))|<!--(?:.*?-->|.*)", re.S)
"""What is written as code, and comments; one that nobody closed hides the rest."""
_FOREIGN: Final = re.compile(
    r"https?:|\b(?:RFC|ISO|IEEE|PEP|GPL|MIT|Act|Article|arXiv|paper|et al|licen[cs]e|book)\b", re.I
)
_ELSEWHERE: Final = ("https:", "http:", "/")
_TEMPLATE: Final = re.compile(r"[{}$*|\\\x00]|\?\?|%00|^[a-z][\w+.-]*:|^/", re.I)


@dataclass(frozen=True)
class Reference:
    """One place that points at another: a file, an anchor in it, or a numbered section of it."""

    path: Path
    line: int
    text: str
    target: Path
    anchor: str = ""
    section: str = ""


@dataclass(frozen=True)
class Broken:
    """A reference that points to nothing."""

    reference: Reference
    said: str


@dataclass(frozen=True)
class References:
    """Every reference that was read, those that point to nothing, and what can be pointed at in each document."""

    documents: int = 0
    read: tuple[Reference, ...] = ()
    broken: tuple[Broken, ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    held: Mapping[Path, Document] = field(default_factory=dict)


def read_references(paths: Iterable[Path]) -> References:
    """Return the references in these documents.

    Blind to: links that begin with a slash or a scheme; targets without a suffix; HTML; a section number whose
    document nobody named, unless its own document numbers its headings; lines that name a paper, a law or an RFC;
    files that are not there and that git is told to ignore, as something makes them; what lies outside of the
    repository.
    """
    held: dict[Path, Document | None] = {}
    read: list[Reference] = []
    unread: list[tuple[Path, str]] = []
    for path in paths:
        if path.suffix.lower() not in DOCUMENTS:
            continue
        try:
            if path.stat().st_size > LARGEST_BYTES:
                unread.append((path, f"larger than {LARGEST_BYTES >> 20} MiB"))
                continue
            text = text_of(path)
        except OSError as error:
            unread.append((path, f"cannot be read: {error.strerror}"))
            continue
        plain = prose(text)
        held[path] = own = document(text, plain)
        read.extend(_references(path, plain, own))
    count = len(held)
    told = [Broken(one, said) for one in read if (said := _said(one, held))]
    made = ignored(one.reference.target for one in told if not _exists(one.reference.target))
    broken = [one for one in told if one.reference.target not in made]
    known = {path: there for path, there in held.items() if there is not None}
    return References(count, tuple(read), tuple(broken), tuple(unread), known)


def _references(path: Path, plain: str, own: Document) -> Iterator[Reference]:
    lines = _Lines(plain)
    covered = _CODE.sub(_blank, plain)
    top = top_of(path.parent)
    if path.suffix.lower() != ".rst":
        defined = ((found.start() + 1, found[1]) for found in _DEFINED.finditer("\n" + covered))
        for at, written in (*((found.start(), found[1]) for found in _LINK.finditer(covered)), *defined):
            if written.startswith(_ELSEWHERE) or _TEMPLATE.search(written):
                continue
            file, _, anchor = unquote(written).partition("#")
            file = file.partition("?")[0]
            if file and ("." not in Path(file).name or Path(file).suffix == ".html"):
                continue
            target = Path(path.parent, file).resolve() if file else path
            if file and top is not None and not target.is_relative_to(top):
                continue
            yield Reference(path, lines.at(at), written, target, anchor)
    if _NUMBERED.search(plain):
        yield from _by_number(path, plain, covered, own)


def _by_number(path: Path, plain: str, covered: str, own: Document) -> Iterator[Reference]:
    lines = _Lines(plain)
    taken: set[int] = set()
    for named in _NAMED.finditer(plain):
        taken.add(named.end())
        target = Path(path.parent, named[1]).resolve()
        if _exists(target):
            yield Reference(path, lines.at(named.start(2)), named[0], target, section=named[2])
    if not own.is_numbered:
        return
    for found in _OWN.finditer(covered):
        line = covered[covered.rfind("\n", 0, found.start(1)) + 1 : (covered.find("\n", found.end()) + 1 or None)]
        if found.end() not in taken and not _FOREIGN.search(line) and not re.search(r"\.(?:md|rst)\b", line):
            yield Reference(path, lines.at(found.start(1)), found[0].strip(" (,;:\t\n"), path, section=found[1])


class _Lines:
    """The lines of a text, found once and only where somebody asks."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def at(self, place: int) -> int:
        return bisect_left(self._ends, place) + 1


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0]) if "\n" in found[0] else " " * len(found[0])


def _said(one: Reference, held: dict[Path, Document | None]) -> str:
    if not _exists(one.target):
        return f"no file at {one.target.name}"
    if not (one.anchor or one.section) or one.target.suffix.lower() not in DOCUMENTS - {".rst"}:
        return ""
    if one.target not in held:
        try:
            held[one.target] = document(text_of(one.target))
        except OSError:
            held[one.target] = None
    there = held[one.target]
    if there is None:
        return ""
    if one.section:
        return (
            "" if not there.is_numbered or there.at(one.section) else f"{one.target.name} has no section {one.section}"
        )
    anchor = one.anchor.removeprefix("user-content-")
    is_kept = anchor in ("top", "") or anchor.startswith(":~:") or there.has(anchor)
    return "" if is_kept else f"{one.target.name} has no heading #{anchor}"


def text_of(path: Path) -> str:
    """Return the text of a document, odd bytes and all."""
    with path.open("rb") as file:
        text = file.read(LARGEST_BYTES).decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
