"""Every reference in the documents points to something that stands there."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Unproven, Verdict, check
from affidavit.checks.gates_can_say_no import has_any
from affidavit.checks.names_known import Row, first_of, rows_of, sites_of
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "text", "said")
PLACES = ("path", "line", "said")


@check(
    "references-resolve",
    needs=("references.broken", "references.moved", "references.unread"),
    when=(("references.examined", has_any),),
    landmine=Landmine.NUMBERS,
    unaffected="every run; only where the documents point is judged",
)
def references_resolve(case: Case) -> Outcome:
    """A reader who follows a reference to nothing, or to a section that was renumbered away, reads the wrong thing.

    Source: playbook §4.7; anchors-mechanisms C7.
    Blind to: documents that nobody named; links to the web; code, but for comments that name a document; a
    renumbering that the repository no longer holds, as a shallow one.
    """
    broken, moved, unread = (
        rows_of(case, "references.broken"),
        rows_of(case, "references.moved"),
        case.value("references.unread"),
    )
    assert isinstance(unread, Table)
    if broken:
        return Fail(
            expected="references that lead somewhere (the documents)",
            saw=first_of(map(_placed, broken)),
            means="Whoever follows one finds nothing, or reads something else.",
            action="Point it to where the text stands now.",
            sites=sites_of((*broken, *moved), _text),
        )
    if moved:
        return Review(
            expected="references to the sections that they were written for (the version before)",
            saw=first_of(map(_placed, moved)),
            means="Whoever follows one reads another section, and nothing tells them.",
            accept=(),
            action="Write the number that the section has now, or waive the place where it is meant.",
            sites=sites_of(moved, _text),
        )
    if unread.rows:
        return Unproven(f"{unread.records()[0]['path']}: {unread.records()[0]['said']}")
    examined = case.value("references.examined")
    assert isinstance(examined, int)
    return Pass(examined)


def _placed(row: Row) -> str:
    return f"{row['path']}:{row['line']} ({row['said']})"


def _text(row: Row) -> str:
    return str(row["text"])


@references_resolve.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "references.examined": 12,
        "references.broken": Table(COLUMNS, ()),
        "references.moved": Table(COLUMNS, ()),
        "references.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@references_resolve.sabotage("a section was renumbered away")
def _(case: Case) -> Case:
    row = ("docs/runs.md", 9, "see §3.4", "sizing.md has no section 3.4")
    return case.altered("references.broken", Table(COLUMNS, (row,)))


@references_resolve.sabotage("a section went to another number", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    row = ("docs/runs.md", 9, "see §3.4", 'sizing.md §3.4 was "Time", which is §3.5 now')
    return case.altered("references.moved", Table(COLUMNS, (row,)))


@references_resolve.sabotage("a document could not be read", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("references.unread", Table(PLACES, (("notes.md", 1, "cannot be read: Permission denied"),)))
