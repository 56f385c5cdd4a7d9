"""One config file as names with lines: what its loader would make of it, and what the loader throws away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.request import Given

LARGEST_BYTES = 5 << 20
MOST_ENTRIES = 20_000
"""What holds more names is data; an alias of an alias can make a small file as large as it likes."""
_SHOWN = 80


class TooLargeError(Exception):
    """A document unfolds to more names than a config has."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One key of a mapping, where it stands, and what it holds.

    Args:
        tag: what the loader makes of the value: ``str``, ``int``, ``float``, ``bool``, ``null``, ``map`` or ``seq``.
        raw: a scalar as it is written, without quotes; "" for a mapping and a sequence.
        is_plain: the scalar is written without quotes.
        inside: the keys of a mapping.
        rows: the keys of each mapping of a sequence.
        is_merged: it came in by ``<<``, and loses to a key of the same name.
        is_anchored: its value bears an anchor, so that it may be used elsewhere in the file.
    """

    key: str
    line: int
    tag: str
    raw: str = ""
    is_plain: bool = False
    inside: tuple[Entry, ...] = ()
    rows: tuple[tuple[Entry, ...], ...] = ()
    is_merged: bool = False
    is_anchored: bool = False

    @property
    def value(self) -> str:
        """Return a scalar as Python writes it, shortened, "" for what is none."""
        if self.tag == "bool":
            return str(self.raw.lower() in ("true", "yes", "on", "y"))
        return "None" if self.tag == "null" else self.raw[:_SHOWN]


@dataclass(frozen=True, kw_only=True)
class Document:
    """A mapping that a config file holds; a YAML file may hold several."""

    path: Path
    entries: tuple[Entry, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the keys of the outermost mapping, each once, in their order."""
        return tuple(dict.fromkeys(entry.key for entry in self.entries))

    def get(self, name: str) -> Entry | None:
        """Return the entry that wins under a key."""
        return next((entry for entry in last(self.entries) if entry.key == name), None)


def last(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return what a loader keeps: of each key the last one, a merged one only where there is no other."""
    kept: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: not entry.is_merged):
        kept[entry.key] = entry
    return tuple(kept.values())


def twice(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Yield every key that loses to a later one of another value, and that one, at any depth.

    Blind to: a key that stands twice with one value, of which nothing is lost.
    """
    seen: dict[str, Entry] = {}
    for entry in entries:
        if not entry.is_merged:
            before = seen.get(entry.key)
            if before is not None and not _is_same(before, entry):
                yield before, entry
            seen[entry.key] = entry
            yield from twice(entry.inside)
            for row in entry.rows:
                yield from twice(row)


def _is_same(one: Entry, other: Entry) -> bool:
    if (one.tag, one.raw, len(one.inside), one.rows) != (other.tag, other.raw, len(other.inside), other.rows):
        return False
    return one.tag != "seq" and all(map(_is_same, one.inside, other.inside))


def given_of(entry: Entry, path: Path) -> Given:
    """Return an entry in the form that every reader gives."""
    inside = tuple(given_of(inner, path) for inner in last(entry.inside))
    return Given(name=entry.key, path=path, line=entry.line, value=entry.value, inside=inside)
