"""Who points where in a repository's text, and what no longer stands there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from affidavit.lint.files import DOCUMENTS
from affidavit.lint.references.banners import WORDS, read_banners, said_of, taken_out
from affidavit.lint.references.code import said_in
from affidavit.lint.references.earlier import ignored, once_there, top_of
from affidavit.lint.references.headings import prose
from affidavit.lint.references.reference import Broken, Reference
from affidavit.lint.references.targets import LARGEST_BYTES, Targets, text_of

_LINK: Final = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)")
_DEFINED: Final = re.compile(r"\n {0,3}\[[^\]^\n]+\]:\s+<?([^\s<>]+)>?")
_NUMBER: Final = r"\d{1,2}(?:\.\d{1,2})*(?![\d\w%-])"
_AND: Final = r"(?:,\s?|,?\s(?:and|or|to)\s|\s?[–—&]\s?)"
_SAID: Final = re.compile(
    rf"(?<!\w)(?:(?:§§\s?|(?:[Ss]ections|SECTIONS)\s){_NUMBER}(?:{_AND}{_NUMBER}){{0,9}}"
    rf"|(?:§\s?|(?:[Ss]ection|SECTION)\s|[Ss]ec\.\s?){_NUMBER}(?:{_AND}§\s?{_NUMBER}){{0,9}})"
)
"""The number of a section, or several where they are said to be."""
_FILE: Final = r"[\w./-]+\.(?:md|markdown|rst)"
_SUFFIXES: Final = tuple(DOCUMENTS)
_NAMED: Final = re.compile(rf"(?<![\w./-])({_FILE})[`)\]]*,?\s\Z")
_OF: Final = re.compile(rf"\s(?:of|in)\s(?:the\s)?[`\[(<]*({_FILE})\b")
_OPENS: Final = re.compile(
    r"(?:^|[(,;:]|\b(?:see|also|cf\.?|in|and|or|to|from|by|under|per|with|at|than|as))[ \t]*\Z", re.I | re.M
)
_OPENING: Final = 40
"""The space that may lie before a number."""
_OF_ANOTHER: Final = re.compile(r" +(?:of|in)\b")
_DIGITS: Final = re.compile(r"\d[\d.]*")
_NUMBERED: Final = re.compile(r"(?:§|ections?|ECTIONS?|ec\.)\s?\d")
_CODE: Final = re.compile(r"`(?<!``)(?:[^`]{1,1000}`(?!`)|(`+)(?!`).{1,1000}?(?<!`)`\1(?!`))|<!--(?:.*?-->|.*)", re.S)
"""What is written as code, and comments; one that nobody closed hides the rest."""
_FOREIGN: Final = re.compile(
    r"https?:|\b(?:RFC|ISO|IEEE|PEP|GPL|MIT|Act|Article|arXiv|paper|et al|licen[cs]e|book)\b", re.I
)
_ANOTHER: Final = re.compile(rf"{_FOREIGN.pattern}|\.(?:md|rst)\b", re.I)
"""What says that a number is not of this document."""
_ELSEWHERE: Final = ("https:", "http:", "/")
_ELSEWHERE_NAMED: Final = re.compile(r"https?:|(?<![\w./-])`?[\w-]+/[\w.-]*\w`?,? (?:`|\S+/)")
"""The name of another repository, and then a path in it."""
_LONGEST: Final = 200
"""How far around a number its line is looked at, and how much of what a link says."""
_TEMPLATE: Final = re.compile(r"[{}$*|\\\x00]|\?\?|%00|^[a-z][\w+.-]*:|^/", re.I)


@dataclass(frozen=True)
class References:
    """Every reference that was read, those that point to nothing, and what can be pointed at in each document."""

    documents: int = 0
    read: tuple[Reference, ...] = ()
    broken: tuple[Broken, ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    targets: Targets = field(default_factory=Targets)


def read_references(paths: Iterable[Path], code: Iterable[Path] = ()) -> References:
    """Return the references in these documents, and those in code to a section of a document that it names.

    Args:
        code: files whose comments and docstrings are read.
    Blind to: links that begin with a slash or a scheme; targets without a suffix; HTML; wiki links; appendices, whose
    numbers are letters; a section number whose document nobody named, unless its own document numbers its headings;
    lines that name a paper, a law, an RFC or another repository; a number that is not in a document which was found by
    its name alone; documents that are not there, that no commit took away, and whose folder is not there either; files
    that are not there and that git is told to ignore, as something makes them; what lies outside of the repository.
    """
    paths = [path for path in paths if path.suffix.lower() in DOCUMENTS]
    targets = Targets(paths)
    read: list[Reference] = []
    unread: list[tuple[Path, str]] = []
    known: list[Path] = []
    for path in paths:
        try:
            if path.stat().st_size > LARGEST_BYTES:
                unread.append((path, f"larger than {LARGEST_BYTES >> 20} MiB"))
                continue
            text = text_of(path)
        except OSError as error:
            unread.append((path, f"cannot be read: {error.strerror}"))
            continue
        read += (*_references(path, text, targets), *read_banners(path, text, targets))
        known.append(path)
    for path in code:
        if comments := said_in(path):
            read.extend(_by_number(path, comments, comments, targets))
    told = [Broken(one, said) for one in read if (said := _said(one, targets))]
    out = tuple(taken_out(known, targets))
    read += (one.reference for one in out)
    told += out
    absent = {one.reference.target for one in told if not targets.exists(one.reference.target)}
    made, gone = ignored(absent), once_there(one.reference.target for one in told if one.reference.section)
    foreign = {
        one.reference
        for one in told
        if one.reference.section and one.reference.target in absent - gone and not _is_path(one.reference)
    }
    broken = tuple(one for one in told if one.reference.target not in made and one.reference not in foreign)
    return References(len(known), tuple(one for one in read if one not in foreign), broken, tuple(unread), targets)


def _is_path(one: Reference) -> bool:
    """Say whether the name of a document that was never there is a path of this project: its folder stands here."""
    named = re.search(_FILE, one.text)
    return named is not None and "/" in named[0] and one.target.parent.is_dir()


def _references(path: Path, text: str, targets: Targets) -> Iterator[Reference]:
    is_numbered = _NUMBERED.search(text) is not None
    if not is_numbered and "](" not in text and "]:" not in text:
        return
    plain = prose(text)
    lines = _Lines(plain)
    covered = _CODE.sub(_blank, plain)
    folder = path.parent
    top = top_of(folder)
    if path.suffix.lower() != ".rst":
        defined = ((found.start() + 1, found[1]) for found in _DEFINED.finditer("\n" + covered))
        for at, written in (*((found.start(), found[1]) for found in _LINK.finditer(covered)), *defined):
            if written.startswith(_ELSEWHERE) or _TEMPLATE.search(written):
                continue
            file, _, anchor = unquote(written).partition("#")
            file = file.partition("?")[0]
            if file and ("." not in file.rpartition("/")[2] or file.endswith(".html")):
                continue
            target = targets.place(folder, file) if file else path
            if file and top is not None and not targets.lies_in(target, top):
                continue
            yield Reference(path, lines.at(at), written, target, anchor)
            if is_numbered and covered[at] == "]" and target.suffix.lower() in DOCUMENTS and targets.exists(target):
                words = " ".join(covered[max(covered.rfind("[", 0, at), at - _LONGEST) + 1 : at].split())
                for number in () if _FOREIGN.search(words) else _numbers(words):
                    yield Reference(path, lines.at(at), f"[{words}]({written})", target, section=number)
    if is_numbered:
        yield from _by_number(path, plain, covered, targets, text)


def _by_number(path: Path, plain: str, covered: str, targets: Targets, text: str | None = None) -> Iterator[Reference]:
    lines = _Lines(plain)
    for found in _SAID.finditer(plain):
        start, end = found.span()
        before = plain[max(start - _LONGEST, 0) : start]
        named = _NAMED.search(before) if before.rstrip("`)], \t\n").endswith(_SUFFIXES) else None
        after = _OF.match(plain, end)
        mentions = [(named[1], named[0] + found[0])] if named else []
        mentions += [(after[1], found[0] + after[0])] if after else []
        for name, said in mentions:
            if not _ELSEWHERE_NAMED.search(before.rpartition("\n")[2]):
                target, guessed = targets.named(path.parent, name)
                for number in _numbers(found[0]):
                    yield Reference(path, lines.at(start), _shown(said), target, section=number, guessed=guessed)
        if text is None or named or after or covered[start] == " ":
            continue
        opens = _OPENS.search(covered, max(start - _OPENING, 0), start)
        if opens is None or _OF_ANOTHER.match(covered, end) or _ANOTHER.search(_line(covered, start, end)):
            continue
        if targets.hold(path, text, plain).is_numbered:
            words = f"{opens[0]}{found[0]}".strip(" (,;:\t\n")
            for number in _numbers(found[0]):
                yield Reference(path, lines.at(start), _shown(words), path, section=number)


def _line(text: str, start: int, end: int) -> str:
    """Return what stands around a place in its line."""
    before, after = text[max(start - _LONGEST, 0) : start], text[end : end + _LONGEST]
    return before.rpartition("\n")[2] + text[start:end] + after.partition("\n")[0]


def _shown(said: str) -> str:
    return " ".join(re.sub(r"[`\[\]()<]", "", said).split())


def _numbers(said: str) -> Iterator[str]:
    for found in _SAID.finditer(said):
        yield from (number[0].rstrip(".") for number in _DIGITS.finditer(found[0]))


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


def _said(one: Reference, targets: Targets) -> str:
    if one.text.startswith(WORDS):
        return said_of(one)
    if not targets.exists(one.target):
        return f"no file at {one.target.name}"
    if not (one.anchor or one.section) or one.target.suffix.lower() not in DOCUMENTS - {".rst"} or one.guessed:
        return ""
    there = targets.document(one.target)
    if there is None:
        return ""
    if one.section:
        is_there = not there.is_numbered or there.at(one.section)
        return "" if is_there else f"{one.target.name} has no section {one.section}"
    anchor = one.anchor.removeprefix("user-content-")
    is_kept = anchor in ("top", "") or anchor.startswith(":~:") or there.has(anchor)
    return "" if is_kept else f"{one.target.name} has no heading #{anchor}"
