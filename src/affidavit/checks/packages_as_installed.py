"""Every file of an installed package that ran is the one that was installed."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.checks.code_is_committed import ALLOWED
from affidavit.fact.values import Table, Tally, Value

EDITED = "differs-from-record"


def is_recorded(files: Value) -> bool:
    """Say whether a RECORD holds the hash of any loaded file; what conda or a system installs has none."""
    return isinstance(files, Tally) and bool(files["as-recorded"] + files[EDITED])


@check(
    "packages-as-installed",
    needs=("code.installed_by_record", "code.installed_deviations", "tree.gate"),
    when=(("code.installed_by_record", is_recorded),),
    landmine=Landmine.TREE,
    unaffected="the project's own code, which is held against its commit",
)
def packages_as_installed(case: Case) -> Outcome:
    """A line changed in site-packages is in no commit and in no wheel, and the version on the record denies it.

    Whoever installs the same version somewhere else gets another program. So each loaded file of a distribution is
    held against the hash in its RECORD. A reason given at launch answers for the rest.

    Source: playbook §4.4; anchors-provenance §3 (23,406 installed files, none differs in a clean environment).
    Blind to: files without a hash (conda, a system's packages, bytecode), which are counted and not judged; a RECORD
    that was changed together with the file.
    """
    files, deviations = case.value("code.installed_by_record"), case.value("code.installed_deviations")
    assert isinstance(files, Tally) and isinstance(deviations, Table)
    gate = str(case.value("tree.gate"))
    if (deviations.rows or files[EDITED]) and not gate.startswith(ALLOWED):
        rows = deviations.records()
        shown = ", ".join(f"{row['path']} ({row['owner']})" for row in rows[:3]) or f"{files[EDITED]} others"
        more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        return Fail(
            expected="every loaded file of a package as its RECORD names it (bytes that were installed)",
            saw=f"other bytes in {shown}{more} (bytes on disk)",
            means="The version on the record names another program than the one that ran.",
            action="Install the package again, or keep the change in a fork or a commit of yours.",
            sites=tuple(Site(path=str(row["path"]), key=str(row["verdict"])) for row in rows),
        )
    return Pass(files["as-recorded"] + files[EDITED])


@packages_as_installed.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "code.installed_by_record": Tally.count("files", {"as-recorded": 2900, EDITED: 0, "unrecorded": 70}),
        "code.installed_deviations": Table(("path", "owner", "verdict"), ()),
        "tree.gate": "refuse",
    }
    return case_of(run=run)


@packages_as_installed.sabotage("somebody debugged a library in place and left the change there")
def _(case: Case) -> Case:
    edited = Table(("path", "owner", "verdict"), (("site-packages/trl/trainer.py", "trl 1.16.0", EDITED),))
    refusing = case if case.value("tree.gate") == "refuse" else case.altered("tree.gate", "refuse")
    return refusing.altered("code.installed_deviations", edited)


@packages_as_installed.sabotage("one more file is counted as edited")
def _(case: Case) -> Case:
    refusing = case if case.value("tree.gate") == "refuse" else case.altered("tree.gate", "refuse")
    return refusing.altered("code.installed_by_record", lambda files: files.moved("as-recorded", EDITED, 1))
