"""What was found of a project's claims, as facts of its record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.record.record import Fact

if TYPE_CHECKING:  # of a project that measured nothing, none of the readers is loaded
    from affidavit.claims.judged import Word
    from affidavit.claims.survey import Survey

WORDS = ("path", "line", "claim", "said")
PLACES = ("path", "line", "said")
NAMES = (
    *("claims.examined", "claims.unbound", "claims.copies", "claims.doubted", "claims.unread", "claims.covered"),
    *("claims.stale", "claims.occasion"),
)
"""Every term that is stated here."""
DAILY, RELEASE = "every day", "release"
Row = tuple[Cell, ...]


def facts(survey: Survey, root: Path, *, is_release: bool = False, most: int = 0) -> tuple[Fact, ...]:
    """Return the facts of what was surveyed.

    Args:
        root: from which paths are written.
        is_release: whether every claim must be of the code that is there.
        most: rows that a table keeps, 0 for all: a run keeps its record small.
    """
    counts = {"bound": len(survey.judged.held), "old values": survey.old, "not read": len(survey.unread)}
    found = survey.judged
    values: dict[str, Value] = {
        "claims.examined": Tally.count("claims", {kind: count for kind, count in counts.items() if count}),
        "claims.unbound": _words(found.unbound, root, most),
        "claims.copies": _words(survey.copies, root, most),
        "claims.doubted": _words((*found.placeless, *survey.loose), root, most),
        "claims.unread": _table(PLACES, [(shown(path, root), line, why) for path, line, why in survey.unread], most),
        "claims.covered": found.covered,
        "claims.stale": _words(found.stale, root, most),
    }
    return _stated(values, f"{survey.files:,} files, against measurements.jsonl", is_release=is_release)


def unmeasured_facts() -> tuple[Fact, ...]:
    """Return the facts of a project in which nothing was ever measured, so that no number has anything to say."""
    words, places = Table(WORDS, ()), Table(PLACES, ())
    values: dict[str, Value] = {
        "claims.examined": Tally("claims", ()),
        **dict.fromkeys(("claims.unbound", "claims.copies", "claims.doubted", "claims.stale"), words),
        "claims.unread": places,
        "claims.covered": 0,
    }
    return _stated(values, "no measurements.jsonl", is_release=False)


def _stated(values: dict[str, Value], source: str, *, is_release: bool) -> tuple[Fact, ...]:
    states = {name: Known(value, Method.INSPECTED, source) for name, value in values.items()}
    states["claims.occasion"] = Known(RELEASE if is_release else DAILY, Method.DECLARED, "command line")
    return tuple(Fact(name=name, state=state) for name, state in states.items())


def unread_facts(cause: Cause, why: str) -> tuple[Fact, ...]:
    """Return the facts of a project of which nothing could be read, each with its cause."""
    state: State = Unknown(cause, why)
    return tuple(Fact(name=name, state=state) for name in NAMES)


def shown(path: Path, root: Path) -> str:
    """Return a path from the project's folder, or whole where it lies elsewhere."""
    text = os.path.relpath(path, root)
    return str(path) if text.startswith("..") else text


def _words(words: Iterable[Word], root: Path, most: int) -> Table:
    return _table(WORDS, [(shown(one.path, root), one.line, one.claim, one.said) for one in words], most)


def _table(columns: tuple[str, ...], rows: Sequence[Row], most: int) -> Table:
    ordered = sorted(dict.fromkeys(rows))
    if most and len(ordered) > most:
        more: list[Cell] = ["" if isinstance(cell, str) else 0 for cell in ordered[0][:-1]]
        ordered = [*ordered[:most], (*more, f"and {len(ordered) - most} more")]
    return Table(columns, tuple(ordered))
