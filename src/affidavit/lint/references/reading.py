"""Who points where in a repository's text, and what no longer stands there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from affidavit.lint.files import DOCUMENTS
from affidavit.lint.references.headings import Document, document, prose

LARGEST_BYTES: Final = 2 << 20
"""What is larger is data, or was generated."""
_LINK: Final = re.compile(
    r"\]\(\s*<?([^()\s<>]+)>?(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)|^ {0,3}\[[^\]^]+\]:\s+<?([^\s<>]+)>?", re.M
)
_SECTION: Final = r"(?:§\s?|[Ss]ection\s|[Ss]ec\.\s?)(\d{1,2}(?:\.\d{1,2})*)(?![\d\w%-])"
_NAMED: Final = re.compile(r"([\w./-]+\.(?:md|markdown|rst))[`)\]]*,?\s" + _SECTION)
_OWN: Final = re.compile(
    r"(?:^|[(,;:]|\b(?:see|in|and|to|from|by|under|per))[ \t]*" + _SECTION + r"(?! +of\b)", re.I | re.M
)
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|<!--.*?-->", re.S)
_FOREIGN: Final = re.compile(
    r"https?:|\b(?:RFC|ISO|IEEE|PEP|GPL|MIT|Act|Article|arXiv|paper|et al|licen[cs]e|book)\b", re.I
)
_TEMPLATE: Final = re.compile(r"[{}$*|\\\x00]|%00|^[a-z][\w+.-]*:|^/", re.I)


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
    document nobody named, unless its own document numbers its headings; lines that name a paper, a law or an RFC.
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
        held[path] = own = document(text)
        read.extend(_references(path, text, own))
    count = len(held)
    broken = [Broken(one, said) for one in read if (said := _said(one, held))]
    known = {path: there for path, there in held.items() if there is not None}
    return References(count, tuple(read), tuple(broken), tuple(unread), known)


def _references(path: Path, text: str, own: Document) -> Iterator[Reference]:
    plain = prose(text)
    ends = [found.start() for found in re.finditer("\n", plain)]
    covered = _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), plain)
    if path.suffix.lower() != ".rst":
        for link in _LINK.finditer(covered):
            written = link[1] or link[2]
            if _TEMPLATE.search(written):
                continue
            file, _, anchor = unquote(written).partition("#")
            file = file.partition("?")[0]
            if file and ("." not in Path(file).name or Path(file).suffix == ".html"):
                continue
            target = Path(path.parent, file).resolve() if file else path
            yield Reference(path, _line(ends, link.start()), written, target, anchor)
    taken: set[int] = set()
    for named in _NAMED.finditer(plain):
        taken.add(named.end())
        target = Path(path.parent, named[1]).resolve()
        if _exists(target):
            yield Reference(path, _line(ends, named.start(2)), named[0], target, section=named[2])
    if not own.is_numbered:
        return
    for found in _OWN.finditer(covered):
        line = covered[covered.rfind("\n", 0, found.start(1)) + 1 : (covered.find("\n", found.end()) + 1 or None)]
        if found.end() not in taken and not _FOREIGN.search(line) and not re.search(r"\.(?:md|rst)\b", line):
            yield Reference(path, _line(ends, found.start(1)), found[0].strip(" (,;:\t\n"), path, section=found[1])


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
        return file.read(LARGEST_BYTES).decode("utf-8", "replace")


def _line(ends: list[int], at: int) -> int:
    return bisect_left(ends, at) + 1


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
