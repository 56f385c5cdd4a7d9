"""Every gate in the text of the project can stop what stands behind it."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "rule", "text", "known", "said")
PLACES = ("path", "line", "said")
_SHOWN = 3


def has_any(examined: Value) -> bool:
    return isinstance(examined, int) and examined > 0


@check(
    "gates-can-say-no",
    needs=("gates.inert", "gates.unread"),
    when=(("gates.examined", has_any),),
    landmine=Landmine.GATES,
    unaffected="what the gates find; only whether their no reaches anybody is judged",
)
def gates_can_say_no(case: Case) -> Outcome:
    """A gate that stands in the script and whose exit code is lost looks the same as one that passes.

    Scripts, Makefiles, Dockerfiles, workflows and Python's own calls are read as text, and the exit code of each test
    runner, linter and check is followed to who reads it: a pipe, an ||, a declaration, a condition that turns set -e
    off, and much else loses it.

    Source: playbook §4.6; anchors-mechanisms C5 (16 inert scripts); silent-failure-corpus L6-01, L6-02, D24.
    Blind to: a gate under a name that does not say so; a gate that judges nothing: that is shown by a drill.
    """
    return judge_inert(
        case,
        "gates",
        expected="gates whose no stops something (their text)",
        proved="Each passes whatever it finds.",
        likely="Their no may reach nobody.",
    )


def judge_inert(case: Case, subject: str, *, expected: str, proved: str, likely: str) -> Outcome:
    """Return what follows from the gates, or the alarms, of which the no is lost: for certain, or in all likelihood."""
    inert, unread = case.value(f"{subject}.inert"), case.value("gates.unread")
    assert isinstance(inert, Table) and isinstance(unread, Table)
    rows = inert.records(path=str, line=int, rule=str, known=str, said=str)
    sure = [row for row in rows if row["known"] != "likely"]
    chosen = sure or rows
    sites = tuple(
        Site(path=str(row["path"]), line=int(row["line"]), key=str(row["rule"]), said=str(row["said"]))
        for row in chosen
    )
    places = list(dict.fromkeys(f"{row['path']}:{row['line']} ({row['rule']})" for row in chosen))
    saw = ", ".join(places[:_SHOWN]) + (f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else "")
    if sure:
        rest = len(rows) - len(sure)
        return Fail(
            expected=expected,
            saw=saw,
            means=f"{proved} {rest} more may be so, once these are mended." if rest else proved,
            action=f'Run "affidavit explain {chosen[0]["rule"]}" for the right form.',
            sites=sites,
        )
    if chosen:
        return Review(
            expected=expected,
            saw=saw,
            means=likely,
            accept=(),
            action="Mend it, or say in place why it is meant: # affidavit: RULE REASON.",
            sites=sites,
        )
    if unread.rows:
        return Unproven(f"{unread.records()[0]['path']}: {unread.records()[0]['said']}")
    examined = case.value(f"{subject}.examined")
    assert isinstance(examined, int)
    return Pass(examined)


@gates_can_say_no.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "gates.examined": 7,
        "gates.inert": Table(COLUMNS, ()),
        "gates.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@gates_can_say_no.sabotage("a gate is followed by || true")
def _(case: Case) -> Case:
    row = ("launch.sh", 3, "status-or-true", "pytest || true", "proved", "What stands behind || turns no into yes.")
    return case.altered("gates.inert", Table(COLUMNS, (row,)))


@gates_can_say_no.sabotage("one that may be meant", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    row = ("ci.yml", 9, "continue-on-error", "pytest", "likely", "The workflow goes on whatever it says.")
    return case.altered("gates.inert", Table(COLUMNS, (row,)))


@gates_can_say_no.sabotage("a script could not be read", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("gates.unread", Table(PLACES, (("launch.sh", 1, "cannot be opened: Permission denied"),)))
