"""The references of a project's text, as facts of its record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Value
from affidavit.lint.facts import PLACES, shown
from affidavit.lint.references.moved import Moved
from affidavit.lint.references.reading import References
from affidavit.lint.references.reference import Reference
from affidavit.record.record import Fact

COLUMNS = ("path", "line", "text", "said")


def reference_facts(found: References, moved: Sequence[Moved], root: Path) -> tuple[Fact, ...]:
    """Return what was read of the references in a project's text."""
    went = {one.reference: f'; it was "{one.meant}", which is {one.now} now' for one in moved}
    broken = [(one.reference, one.said + went.get(one.reference, "")) for one in found.broken]
    told = {one for one, _ in broken}
    values: dict[str, Value] = {
        "references.examined": len(found.read),
        "references.broken": _rows(broken, root),
        "references.moved": _rows([(one.reference, one.said) for one in moved if one.reference not in told], root),
        "references.unread": Table(PLACES, tuple(sorted((shown(path, root), 1, said) for path, said in found.unread))),
    }
    source = "the text of the documents"
    return tuple(Fact(name=name, state=Known(value, Method.INSPECTED, source)) for name, value in values.items())


def _rows(told: Sequence[tuple[Reference, str]], root: Path) -> Table:
    rows: list[tuple[Cell, ...]] = [(shown(one.path, root), one.line, one.text, said) for one, said in told]
    return Table(COLUMNS, tuple(sorted(dict.fromkeys(rows))))


def no_documents() -> Fact:
    """Return what a run says of references: it reads no document, and none is its fault."""
    return Fact(name="references.examined", state=Known(0, Method.INSPECTED, "no document is read for a run"))
