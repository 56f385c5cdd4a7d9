"""What was read of a project's files, as facts of its record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.lint.diff import Word
from affidavit.lint.gates import GateReading, Inert
from affidavit.lint.gates.rule import ALARM, GATE
from affidavit.lint.project import Lint
from affidavit.lint.request import Field, Unread
from affidavit.lint.union import short
from affidavit.record.record import Fact

WORDS = ("path", "line", "callee", "name", "said")
PLACES = ("path", "line", "said")
FIELDS = ("path", "line", "field", "kind", "said")
INERT = ("path", "line", "rule", "text", "known", "said")
PROVED, LIKELY = "proved", "likely"
"""How an inert gate is known: by the text alone, or so that a person looks."""
GATES = ("gates.examined", "gates.inert", "gates.unread", "alarms.examined", "alarms.inert")
NAMES = (
    *("names.packages", "names.examined", "names.unknown", "names.doubted", "names.noted", "names.unread"),
    *("fields.examined", "fields.unread", "fields.doubted"),
)
"""Every term that is stated here."""
UNREAD = "not read"
"""The kind under which places are counted whose names nobody could judge; they must not look like nothing to judge."""
Row = tuple[Cell, ...]


def facts(lint: Lint, root: Path, *, most: int = 0) -> tuple[Fact, ...]:
    """Return the facts of a project that was read.

    Args:
        root: from which paths are written.
        most: rows that a table keeps, 0 for all: a run keeps its record small.
    """
    packages = ", ".join(sorted(lint.held.packages)) or "nothing installed"
    count = lint.files.count
    source = f"in {count:,} {'file' if count == 1 else 'files'}, against {packages}"
    unread = {UNREAD: len(lint.unread)} if lint.unread else {}
    values: dict[str, Value] = {
        "names.packages": tuple(sorted(lint.held.packages)),
        "names.examined": Tally.count("names", {**lint.held.examined, **unread}),
        "names.unknown": _table(WORDS, _words(lint.held.unknown, root), most),
        "names.doubted": _table(WORDS, _words(lint.held.doubted, root), most),
        "names.noted": _table(WORDS, _words(lint.held.noted, root), most),
        "names.unread": _table(PLACES, _places(lint.unread, root), most),
        "fields.examined": lint.fields_examined,
        "fields.unread": _table(FIELDS, _fields(lint.fields, root), most),
        "fields.doubted": _table(FIELDS, _fields(lint.doubtful, root), most),
    }
    names = tuple(Fact(name=name, state=Known(value, Method.INSPECTED, source)) for name, value in values.items())
    return (*names, *gate_facts(lint.gates, root, most=most))


def gate_facts(reading: GateReading, root: Path, *, most: int = 0) -> tuple[Fact, ...]:
    """Return what was read of the gates and alarms of a project."""
    values: dict[str, Value] = {
        "gates.examined": reading.gates,
        "gates.inert": _table(INERT, _inert(reading.inert, GATE, root), most),
        "gates.unread": _table(PLACES, _places(reading.unread, root), most),
        "alarms.examined": reading.alarms,
        "alarms.inert": _table(INERT, _inert(reading.inert, ALARM, root), most),
    }
    source = "their text, by the rules of affidavit lint"
    return tuple(Fact(name=name, state=Known(value, Method.INSPECTED, source)) for name, value in values.items())


def unread_facts(cause: Cause, why: str, names: Sequence[str] = (*NAMES, *GATES)) -> tuple[Fact, ...]:
    """Return the facts of a project of which nothing could be read, each with its cause."""
    state: State = Unknown(cause, why)
    return tuple(Fact(name=name, state=state) for name in names)


def _inert(found: Iterable[Inert], section: str, root: Path) -> list[Row]:
    return [
        (
            shown(one.path, root),
            one.hit.line,
            one.rule.id,
            one.hit.text,
            PROVED if one.hit.is_sure else LIKELY,
            one.said,
        )
        for one in found
        if one.rule.section == section
    ]


def _words(words: Iterable[Word], root: Path) -> list[Row]:
    return [(shown(one.path, root), one.line, short(one.callee), one.name, one.said) for one in words]


def _places(places: Iterable[Unread], root: Path) -> list[Row]:
    return [(shown(one.path, root), one.line, one.why) for one in places]


def _fields(fields: Iterable[Field], root: Path) -> list[Row]:
    return [(shown(one.path, root), one.line, one.name, one.kind, one.said) for one in fields]


def _table(columns: tuple[str, ...], rows: Sequence[Row], most: int) -> Table:
    ordered = sorted(dict.fromkeys(rows))
    if most and len(ordered) > most:
        more: list[Cell] = ["" if isinstance(cell, str) else 0 for cell in ordered[0][:-1]]
        ordered = [*ordered[:most], (*more, f"and {len(ordered) - most} more")]
    return Table(columns, tuple(ordered))


def shown(path: Path, root: Path) -> str:
    """Return a path from the project's folder, or whole where it lies elsewhere."""
    text = os.path.relpath(path, root)
    return str(path) if text.startswith("..") else text
