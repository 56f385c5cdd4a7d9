"""Sections and anchors that a renumbering left behind: what they were when they were written, and where that is now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from affidavit.lint.references.earlier import revisions, texts, top_of
from affidavit.lint.references.headings import Document, Heading, document, lines_of
from affidavit.lint.references.reading import References
from affidavit.lint.references.reference import Reference
from affidavit.lint.references.targets import Targets, text_of
from affidavit.observe.error import ObserveError

_MOST_LINES: Final = 20_000
"""Longer files are not laid beside their version before."""


@dataclass(frozen=True)
class Moved:
    """A reference whose section has another number or anchor now; the one it gives went to another, or to nothing."""

    reference: Reference
    meant: str
    now: str

    @property
    def said(self) -> str:
        """What the reference was written for."""
        one = self.reference
        return f'{one.target.name} {_written(one)} was "{self.meant}", which is {self.now} now'


def read_moved(found: References) -> tuple[Moved, ...]:
    """Return the references by number or anchor that a renumbering left behind.

    The target is held against its versions before: HEAD's where it is changed now, then those before each of the last
    commits that touched it. The newest in which the number stood over another heading is what the line may have meant.
    It is told only where the line stood there already, word for word, and that section still exists, under another
    number.

    Blind to: what lies outside of a repository, beyond the end of a shallow one, or where git has no answer in time;
        what stood before a document was renamed; a section that was renamed as well; an anchor that still leads
        somewhere, as it says the title itself, even if it is one of several alike; a line that was edited for another
        reason.
    """
    told: list[Moved] = []
    for top, references in _by_repository(found).items():
        try:
            told.extend(_of(top, references, found.targets))
        except ObserveError:
            continue
    return tuple(told)


def _by_repository(found: References) -> dict[Path, list[Reference]]:
    broken = {one.reference for one in found.broken}
    grouped: dict[Path, list[Reference]] = defaultdict(list)
    for one in found.read:
        if not (one.section or one in broken) or not found.targets.exists(one.target):
            continue
        top = top_of(one.target.parent)
        if top is not None and one.path.is_relative_to(top) and found.targets.document(one.target) is not None:
            grouped[top].append(one)
    return grouped


def _of(top: Path, references: Sequence[Reference], targets: Targets) -> Iterator[Moved]:
    names = {one.target: one.target.relative_to(top).as_posix() for one in references}
    versions = revisions(top, sorted(set(names.values())))
    stood = _Lines(top)
    for age in range(max(map(len, versions.values()), default=0)):
        at = {name: held[age] for name, held in versions.items() if age < len(held)}
        asked = {names[one.target] for one in references}
        before = texts(top, ((at[name], name) for name in sorted(asked & set(at))))
        then = {name: document(lines_of(text)) for (_, name), text in before.items()}
        left: list[Reference] = []
        for one in references:
            name, now = names[one.target], targets.document(one.target)
            if name not in then or now is None:
                continue  # it was not there yet
            meant, reads = _heading(then[name], one), _heading(now, one)
            if _plain(meant) == _plain(reads):
                left.append(one)
                continue
            where = _where(then[name], now, meant, one)
            if meant and where and stood.over(one, at[name], reads.title if reads else ""):
                yield Moved(one, meant.title, where)
        references = left


def _heading(there: Document, one: Reference) -> Heading | None:
    if one.section:
        return next((held for held in there.headings if held.number == one.section), None)
    return next((held for held in there.headings if held.anchor == one.anchor.lower()), None)


def _where(then: Document, now: Document, meant: Heading | None, one: Reference) -> str:
    """Say where the section is now that is meant; nothing where its title alone does not tell."""
    if meant is None or not meant.title or len(_alike(then, meant, one)) != 1:
        return ""
    found = _alike(now, meant, one)
    return "" if len(found) != 1 else f"§{found[0].number}" if one.section else f"#{found[0].anchor}"


def _alike(there: Document, meant: Heading, one: Reference) -> list[Heading]:
    return [held for held in there.headings if (held.number or not one.section) and _plain(held) == _plain(meant)]


class _Lines:
    """Which lines of a document were carried over from a revision; each pair is laid side by side once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._kept: dict[tuple[Path, str], tuple[list[str], frozenset[int]]] = {}

    def over(self, one: Reference, revision: str, title: str) -> bool:
        """Say whether the line of a reference stood there unchanged, and does not name the section it reads now."""
        key = (one.path, revision)
        if key not in self._kept:
            self._kept[key] = self._carried(one.path, revision)
        now, kept = self._kept[key]
        line = one.line - 1
        return line in kept and not (title and _words(title) in _words(now[line]))

    def _carried(self, path: Path, revision: str) -> tuple[list[str], frozenset[int]]:
        place = (revision, path.relative_to(self._top).as_posix())
        before = lines_of(texts(self._top, (place,)).get(place, "")).split("\n")
        now = text_of(path).split("\n")
        if max(len(before), len(now)) > _MOST_LINES:
            return now, frozenset()
        blocks = SequenceMatcher(None, before, now).get_matching_blocks()
        return now, frozenset(line for block in blocks for line in range(block.b, block.b + block.size))


def _written(one: Reference) -> str:
    return f"§{one.section}" if one.section else f"#{one.anchor}"


def _plain(heading: Heading | None) -> str:
    return _words(heading.title) if heading else ""


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
