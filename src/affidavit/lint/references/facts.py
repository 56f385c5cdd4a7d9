"""The references of a project's text, as facts of its record."""

from __future__ import annotations

from pathlib import Path

from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Value
from affidavit.lint.facts import PLACES, shown
from affidavit.lint.references.reading import References
from affidavit.record.record import Fact

BROKEN = ("path", "line", "text", "said")


def reference_facts(found: References, root: Path) -> tuple[Fact, ...]:
    """Return what was read of the references in a project's text."""
    rows: list[tuple[Cell, ...]] = [
        (shown(one.reference.path, root), one.reference.line, one.reference.text, one.said) for one in found.broken
    ]
    values: dict[str, Value] = {
        "references.examined": len(found.read),
        "references.broken": Table(BROKEN, tuple(sorted(dict.fromkeys(rows)))),
        "references.unread": Table(PLACES, tuple(sorted((shown(path, root), 1, said) for path, said in found.unread))),
    }
    source = "the text of the documents"
    return tuple(Fact(name=name, state=Known(value, Method.INSPECTED, source)) for name, value in values.items())


def no_documents() -> Fact:
    """Return what a run says of references: it reads no document, and none is its fault."""
    return Fact(name="references.examined", state=Known(0, Method.INSPECTED, "no document is read for a run"))
