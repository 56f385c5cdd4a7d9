"""Numbers of sections that still exist, and stand over another heading than when they were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from affidavit.lint.references.earlier import revisions, texts, top_of
from affidavit.lint.references.headings import Document, document
from affidavit.lint.references.reading import Reference, References, text_of
from affidavit.observe.error import ObserveError

_MOST_LINES: Final = 20_000
"""Longer files are not laid beside their version before."""


@dataclass(frozen=True)
class Moved:
    """A reference whose number went to another section, while the section it meant has another number."""

    reference: Reference
    said: str


def read_moved(found: References) -> tuple[Moved, ...]:
    """Return the references by number that a renumbering left behind.

    The version before of the target is HEAD's where it is changed now, else the one before the last commit that
    touched it. A reference is told only where its line stood there already, word for word, and the section that it
    named then still exists, under another number.

    Blind to: what lies outside of a repository, in a shallow one, or where git has no answer in time; a renumbering
        before the last change of the document; a section that was renamed as well; anchors, which say a title
        themselves; a line that was edited for another reason.
    """
    told: list[Moved] = []
    for top, references in _by_repository(found).items():
        try:
            told.extend(_of(top, references, found.held))
        except ObserveError:
            continue
    return tuple(told)


def _by_repository(found: References) -> dict[Path, list[Reference]]:
    grouped: dict[Path, list[Reference]] = defaultdict(list)
    for one in found.read:
        there = found.held.get(one.target)
        top = top_of(one.target.parent) if one.section and there and there.title(one.section) else None
        if top is not None and one.path.is_relative_to(top):
            grouped[top].append(one)
    return grouped


def _of(top: Path, references: Sequence[Reference], held: Mapping[Path, Document]) -> Iterator[Moved]:
    names = {one.target: one.target.relative_to(top).as_posix() for one in references}
    revision = revisions(top, sorted(set(names.values())))
    before = {
        place: document(text) for place, text in texts(top, ((at, name) for name, at in revision.items())).items()
    }
    suspected: list[tuple[Reference, tuple[str, str], str]] = []
    for one in references:
        at = revision.get(names[one.target], "")
        said = _renumbered(before.get((at, names[one.target])), held[one.target], one)
        if said:
            suspected.append((one, (at, one.path.relative_to(top).as_posix()), said))
    old = texts(top, (place for _, place, _ in suspected))
    for one, place, said in suspected:
        if _stood(one, old.get(place, ""), held[one.target].title(one.section)):
            yield Moved(one, said)


def _renumbered(then: Document | None, now: Document, one: Reference) -> str:
    """Say where the section is now that this number named then; nothing where it is where it was."""
    if then is None:
        return ""
    meant, reads = then.title(one.section), now.title(one.section)
    if not meant or _plain(meant) == _plain(reads) or len(_numbers(then, meant)) != 1:
        return ""
    numbers = _numbers(now, meant)
    if len(numbers) != 1:
        return ""
    return f'{one.target.name} §{one.section} was "{meant}", which is §{numbers[0]} now'


def _numbers(there: Document, title: str) -> list[str]:
    return [one.number for one in there.headings if one.number and _plain(one.title) == _plain(title)]


def _stood(one: Reference, old: str, title: str) -> bool:
    """Say whether the line of a reference was carried over unchanged, and does not name the section it reads now."""
    before, now = old.split("\n"), text_of(one.path).split("\n")
    line = one.line - 1
    if max(len(before), len(now)) > _MOST_LINES or line >= len(now) or _plain(title) in _plain(now[line]):
        return False
    blocks = SequenceMatcher(None, before, now).get_matching_blocks()
    return any(block.b <= line < block.b + block.size for block in blocks)


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())
