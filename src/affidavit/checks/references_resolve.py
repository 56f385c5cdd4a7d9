"""Every reference in the documents points to something that stands there."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "text", "said")
PLACES = ("path", "line", "said")
_SHOWN = 3


def has_any(examined: Value) -> bool:
    return isinstance(examined, int) and examined > 0


@check(
    "references-resolve",
    needs=("references.broken", "references.unread"),
    when=(("references.examined", has_any),),
    landmine=Landmine.NUMBERS,
    unaffected="every run; only where the documents point is judged",
)
def references_resolve(case: Case) -> Outcome:
    """A reader who follows a reference to nothing, or to a section that was renumbered away, reads the wrong thing.

    Source: playbook §4.7; anchors-mechanisms C7.
    Blind to: a number that now stands over another heading; documents that nobody named; links to the web.
    """
    broken, unread = case.value("references.broken"), case.value("references.unread")
    assert isinstance(broken, Table) and isinstance(unread, Table)
    rows = broken.records(path=str, line=int, text=str, said=str)
    if rows:
        places = [f"{row['path']}:{row['line']} ({row['said']})" for row in rows]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        return Fail(
            expected="references that lead somewhere (the documents)",
            saw=", ".join(places[:_SHOWN]) + more,
            means="Whoever follows one finds nothing, or reads something else.",
            action="Point it to where the text stands now.",
            sites=tuple(
                Site(path=str(row["path"]), line=int(row["line"]), key=str(row["text"]), said=str(row["said"]))
                for row in rows
            ),
        )
    if unread.rows:
        return Unproven(f"{unread.records()[0]['path']}: {unread.records()[0]['said']}")
    examined = case.value("references.examined")
    assert isinstance(examined, int)
    return Pass(examined)


@references_resolve.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "references.examined": 12,
        "references.broken": Table(COLUMNS, ()),
        "references.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@references_resolve.sabotage("a section was renumbered away")
def _(case: Case) -> Case:
    row = ("docs/runs.md", 9, "see §3.4", "sizing.md has no section 3.4")
    return case.altered("references.broken", Table(COLUMNS, (row,)))


@references_resolve.sabotage("a document could not be read", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("references.unread", Table(PLACES, (("notes.md", 1, "cannot be read: Permission denied"),)))
