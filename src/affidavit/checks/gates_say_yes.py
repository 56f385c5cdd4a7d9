"""The project's own gates say yes to the tree that is about to be used."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.values import Table, Value

COLUMNS = ("gate", "code", "seconds", "why")
SILENT = -1


def _asked_any(answers: Value) -> bool:
    return isinstance(answers, Table) and bool(answers.rows)


@check(
    "gates-say-yes",
    needs=("gates.answers",),
    when=(("gates.answers", _asked_any),),
    landmine=Landmine.GATES,
    unaffected="what the gate does not look at",
)
def gates_say_yes(case: Case) -> Outcome:
    """A gate of the project's own guards what no check of ours knows; its no is worth as much as one of ours.

    Each [[gate]] of affidavit.toml is asked once before the command, of the tree as it lies there. Exit code 0 is yes.
    One that does not end, or cannot be started, has said nothing, and nothing is no yes.

    Source: playbook §4.6, §4.8. Blind to: a gate that cannot say no; that is for instruments-proved.
    """
    answers = case.value("gates.answers")
    assert isinstance(answers, Table)
    rows = answers.records(gate=str, code=int, seconds=float, why=str)
    refusing = [row for row in rows if row["code"] not in (0, SILENT)]
    if refusing:
        first = refusing[0]
        return Fail(
            expected=f"the gate {first['gate']} to say yes to this tree (affidavit.toml)",
            saw=f"{first['why']} after {float(first['seconds']):.1f} s",
            means="What the project itself demands of its tree does not hold.",
            action="Mend what it complains of, and try again.",
            sites=tuple(Site(key=str(row["gate"]), said=str(row["why"])) for row in refusing),
        )
    silent = [f"{row['gate']}: {row['why']}" for row in rows if row["code"] == SILENT]
    return Unproven("; ".join(silent[:3])) if silent else Pass(len(rows))


@gates_say_yes.healthy
def _() -> Case:
    rows = (("labels", 0, 0.31, "exit code 0"), ("licences", 0, 1.2, "exit code 0 (all known)"))
    return case_of(run={"gates.answers": Table(COLUMNS, rows)})


@gates_say_yes.sabotage("a gate says no")
def _(case: Case) -> Case:
    def refuse(answers: Value) -> Value:
        assert isinstance(answers, Table)
        return answers.with_cell(1, "code", 1).with_cell(1, "why", "exit code 1 (GPL in vendor/x)")

    return case.altered("gates.answers", refuse)
