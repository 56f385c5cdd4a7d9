"""Every file of ours that ran is held, byte for byte, by a commit."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Verdict, check
from affidavit.fact.values import Table, Tally, Value

ALLOWED = "allow: "


@check(
    "code-is-committed",
    needs=("code.files_by_verdict", "code.deviations", "tree.gate"),
    landmine=Landmine.TREE,
    unaffected="what the run resolved to, which was read from the run itself",
)
def code_is_committed(case: Case) -> Outcome:
    """A commit id names code that nobody ran, if what was imported is not what it holds.

    git status misses ten of sixteen ways to do that. So the bytes that were executed are compared with the blobs of
    the commit, or of the snapshot that was taken of it, and so are the configs that were opened. A reason given at
    launch answers for the rest. Where no repository is, a stamp stands for the commit, and for code that came with a
    model the revision of that model.

    Source: playbook §4.4; anchors-provenance §3. Blind to: code made at run time; installed packages, which
    ``packages-as-installed`` looks at.
    """
    verdicts, deviations = case.value("code.files_by_verdict"), case.value("code.deviations")
    assert isinstance(verdicts, Tally) and isinstance(deviations, Table)
    gate = str(case.value("tree.gate"))
    if deviations.rows and not gate.startswith(ALLOWED):
        shown = ", ".join(f"{row['path']} ({row['verdict']})" for row in deviations.records()[:3])
        more = f" and {len(deviations.rows) - 3} more" if len(deviations.rows) > 3 else ""
        return Fail(
            expected=f"every file that ran held by a commit (tree gate: {gate})",
            saw=f"{shown}{more} (digest of what was executed)",
            means="The commit of this run describes code that did not run.",
            action='Commit, or run with "--tree snapshot".',
            sites=tuple(Site(path=str(row["path"]), key=str(row["verdict"])) for row in deviations.records()),
        )
    return Pass(examined=verdicts.total)


@code_is_committed.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "code.files_by_verdict": Tally.count("files", {"committed": 3, "installed": 3000}),
        "code.deviations": Table(("path", "owner", "verdict"), (("train.py", "repo", "modified"),)),
        "tree.gate": "allow: a hotfix that is committed tonight",
    }
    return case_of(run=run)


@code_is_committed.sabotage("a module that git ignores was imported, and nobody gave a reason")
def _(case: Case) -> Case:
    stray = Table(("path", "owner", "verdict"), (("secret_sauce.py", "another", "not-in-commit"),))
    refusing = case if case.value("tree.gate") == "refuse" else case.altered("tree.gate", "refuse")
    return refusing.altered("code.deviations", stray)


@code_is_committed.sabotage("no file was examined", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("code.files_by_verdict", Tally("files", ()))
