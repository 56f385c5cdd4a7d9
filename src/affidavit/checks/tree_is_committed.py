"""Every file that the command will run or read is held by the commit, before it starts."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Verdict, check
from affidavit.checks.code_is_committed import ALLOWED
from affidavit.fact.values import Table, Value

KEPT = "snapshot "


@check(
    "tree-is-committed",
    needs=("tree.deviations", "tree.files_examined", "tree.gate"),
    landmine=Landmine.TREE,
    unaffected="changed files that the command neither runs nor reads",
)
def tree_is_committed(case: Case) -> Outcome:
    """The same question as ``code-is-committed``, asked before the script starts, of what it names and imports.

    Source: playbook §4.4. Blind to: imports made by name at run time; those are judged once they have happened.
    """
    deviations, examined, gate = (case.value(need) for need in ("tree.deviations", "tree.files_examined", "tree.gate"))
    assert isinstance(deviations, Table) and isinstance(examined, int)
    if deviations.rows and not str(gate).startswith((KEPT, ALLOWED)):
        shown = ", ".join(f"{row['path']} ({row['verdict']})" for row in deviations.records()[:3])
        more = f" and {len(deviations.rows) - 3} more" if len(deviations.rows) > 3 else ""
        return Fail(
            expected="every file the command runs or reads held by the commit (tree gate: refuse)",
            saw=f"{shown}{more} (bytes on disk)",
            means="The commit would describe code that did not run.",
            action='Commit, or run with "--tree snapshot", or "--tree allow --reason …".',
            sites=tuple(Site(path=str(row["path"]), key=str(row["verdict"])) for row in deviations.records()),
        )
    return Pass(examined)


@tree_is_committed.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "tree.deviations": Table(("path", "verdict"), (("train.py", "modified"),)),
        "tree.files_examined": 3,
        "tree.gate": "snapshot refs/affidavit/example 0123abc",
    }
    return case_of(run=run)


@tree_is_committed.sabotage("an edited file will run, and nothing was kept of it")
def _(case: Case) -> Case:
    edited = Table(("path", "verdict"), (("another.py", "filter-hides"),))
    refusing = case if case.value("tree.gate") == "refuse" else case.altered("tree.gate", "refuse")
    return refusing.altered("tree.deviations", edited)


@tree_is_committed.sabotage("no file was examined", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("tree.files_examined", 0)
