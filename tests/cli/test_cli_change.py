"""The verbs that write: a lock, a correction, a ledger."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping

import pytest
from tests.cli.desk import CLEAN, EAGER, NARRATOR, Desk

from affidavit.fact.encoding import to_json
from affidavit.fact.values import Value


def test_what_is_accepted_passes_and_what_moves_fails(copied: Desk) -> None:
    users = copied.runs["users"]
    assert "REVIEW   supervised-roles-reviewed" in copied.type("check", users).stdout
    ended = copied.type("accept", users)
    assert ended.exit_code == 0 and "the loss is on tokens of assistant, user" in ended.stdout
    assert ended.stdout.splitlines()[-1].endswith("entries written to affidavit.lock: commit it")
    assert 'recipe "train"' in ended.stdout
    again = copied.type("check", users)
    assert again.exit_code == 0 and "REVIEW" not in again.stdout
    assert "nothing new to accept" in copied.type("accept", users).stdout
    moved = copied.type("check", copied.runs["clean"])
    assert moved.exit_code == 1 and "FAIL     lock-holds" in moved.stdout
    against = copied.type("diff", "lock", copied.runs["clean"])
    assert against.exit_code == 1
    assert "  the loss is on tokens of assistant, user (A) / assistant (B)  " in against.stdout


def test_what_would_be_written_is_said_and_not_written(copied: Desk) -> None:
    lock, users, clean = copied.root / "affidavit.lock", copied.runs["users"], copied.runs["clean"]
    ended = copied.type("accept", users, "--dry-run")
    assert ended.exit_code == 1 and not lock.exists()
    assert ended.stdout.splitlines()[-1].endswith("entries would be written to affidavit.lock")
    refused = copied.type("diff", "lock", users)
    assert refused.exit_code == 2 and "no recipe" in refused.stderr
    copied.type("accept", users)
    assert copied.type("accept", users, "--dry-run").exit_code == 0
    before = lock.read_bytes()
    said = copied.document("accept", clean, "--dry-run")
    assert [change["said"] for change in said["changes"]] == [
        "the loss is on tokens of assistant (asked for by narrator); before: assistant, user (nobody asked: narrator)"
    ]
    assert said["written"] is False and lock.read_bytes() == before


def test_accepting_a_run_that_fails_says_so(copied: Desk) -> None:
    assert "this run fails attention-as-requested" in copied.type("accept", copied.runs["eager"]).stdout
    assert copied.document("accept", copied.runs["eager"])["failed"][0] == "attention-as-requested"


def test_what_falls_is_unknown_to_every_later_reader(copied: Desk) -> None:
    path = copied.root / ".affidavit/runs" / copied.runs["clean"] / "manifest.json"
    sealed = path.read_bytes()
    words = ("--falls", "attention.*", "--survives", "tokens.*", "--reason", "another seat", "--author", "Ada")
    ended = copied.type("annotate", "last", *words)
    assert ended.exit_code == 0 and "erratum #1" in ended.stdout and "not reviewed" in ended.stdout
    shown = copied.type("check")
    assert shown.exit_code == 4
    assert "another seat" in shown.stdout and "a later annotation says that this falls" in shown.stdout
    assert path.read_bytes() == sealed


def test_what_was_corrected_is_told_before_the_next_run_of_the_recipe_and_of_no_other(copied: Desk) -> None:
    assert (
        copied.type(
            "annotate",
            "last",
            "--falls",
            "attention.*",
            "--reviewed-nothing-else",
            "--why",
            "another seat",
            "--author",
            "Ada",
        ).exit_code
        == 0
    )
    told = " ".join(copied.train(CLEAN).stderr.partition("✓")[0].split())
    assert "note" in told and "erratum #1 (Ada, " in told and "another seat (falls: attention.*; " in told
    other = copied.root / "other.py"
    other.write_text("print('no training')\n")
    before = copied.start("run", "--tree", "allow", "--reason", "a test", "--", sys.executable, "other.py").stderr
    assert "before the command" in before and "erratum" not in before


def test_a_correction_that_says_nothing_is_refused(copied: Desk) -> None:
    for words in (
        ("--falls", "attention.kernel", "--reason", "a misspelt term"),
        ("--falls", "attention.*", "--survives", "attention.kernels", "--reason", "both"),
        ("--falls", "attention.*", "--reviewed-nothing-else", "--why", " "),
        ("--falls", "attention.*"),
    ):
        assert copied.type("annotate", "last", *words).exit_code == 2
    assert copied.type("check").exit_code == 0


def test_where_nobody_has_a_name_the_author_is_asked_for(copied: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that is started with a user of its own."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", nameless)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    words = ("annotate", "last", "--falls", "attention.*", "--reviewed-nothing-else", "--why", "another seat")
    refused = copied.type(*words)
    assert refused.exit_code == 2 and "it has no author" in refused.stderr
    assert copied.type(*words, "--author", "Ada").exit_code == 0


def test_a_drill_is_dated_in_the_ledger_and_on_the_checklist(copied: Desk) -> None:
    own = copied.document("drill")["drills"]
    ended = copied.type("drill", "last")
    assert ended.exit_code == 0, ended.stdout
    assert "missed" not in ended.stdout and "✓ attention-as-requested" in ended.stdout
    lines = (copied.root / "instruments.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert all(entry["caught"] == entry["total"] > 0 for entry in entries)
    on_run = {entry["check"]: entry["total"] for entry in entries if entry.get("run")}
    assert any(on_run[drill["check"]] > drill["total"] for drill in own)
    checklist = copied.type("show").stdout
    assert "PASS  proved 20" in checklist and re.search(r"Drilled: (\d+) of \1,", checklist), checklist
    explained = copied.type("explain", "attention-as-requested").stdout
    assert copied.runs["clean"] in explained and "on its own example" not in explained


BLUNT = '''
"""A check that looks at nothing."""
from affidavit.case import case_of
from affidavit.check import Landmine, Pass, check

@check("attention-is-fine", needs=("attention.kernels",), landmine=Landmine.RESULT, unaffected="everything")
def fine(case):
    """It never fails."""
    return Pass(examined=1)

@fine.healthy
def _():
    return case_of(run={"attention.kernels": ("flash",)})

@fine.sabotage("another kernel ran")
def _(case):
    return case.altered("attention.kernels", ("math",))
'''


def test_a_check_that_cannot_fail_is_found_out(project: Desk) -> None:
    package = project.root / "affidavit_checks"
    package.mkdir()
    (package / "__init__.py").write_text('CHECKS = ("fine",)\n')
    (package / "fine.py").write_text(BLUNT)
    ended = project.type("drill")
    assert ended.exit_code == 1
    assert "✗ attention-is-fine" in ended.stdout
    assert "missed: another kernel ran: expected FAIL, saw PASS" in ended.stdout


WORLD = """
import json, os, runpy, shutil
path = os.path.join(os.environ["AFFIDAVIT_DIR"], "facts.json")
with open(path, "w") as file:
    json.dump({"trainings": [%r], "rows": [], "pause": 0, "code": 0}, file)
shutil.copy(__file__, "train.py")
os.environ["FACTS"] = path
runpy.run_path(os.environ["NARRATOR"], run_name="__main__")
"""


def drilled(project: Desk, fault: Mapping[str, Value], clean: Mapping[str, Value]) -> tuple[int, str]:
    """Return what a drill says of a world whose two scripts resolve to these facts."""
    place = project.root.parent / "worlds" / "attention_as_requested"
    place.mkdir(parents=True, exist_ok=True)
    for name, facts in (("fault.py", fault), ("clean.py", clean)):
        (place / name).write_text(WORLD % {term: to_json(value) for term, value in facts.items()})
    words = ("drill", "--world", str(place.parent), "--python", sys.executable)
    ended = project.start(*words, NARRATOR=str(NARRATOR))
    return ended.returncode, ended.stdout + ended.stderr


def test_a_world_drills_the_check_through_the_true_launcher(project: Desk) -> None:
    code, page = drilled(project, EAGER, CLEAN)
    assert code == 0, page
    assert "missed" not in page
    assert not (project.root / ".affidavit").exists()


def test_a_world_whose_fault_is_not_seen_is_a_missed_sabotage(project: Desk) -> None:
    code, page = drilled(project, CLEAN, EAGER)
    assert code == 1
    assert "real script attention_as_requested/fault.py: expected FAIL, saw PASS" in page
    assert "real script attention_as_requested/clean.py: expected PASS, saw FAIL" in page


def test_a_fault_without_its_twin_proves_nothing(project: Desk) -> None:
    place = project.root.parent / "worlds" / "attention_as_requested"
    place.mkdir(parents=True)
    (place / "fault.py").write_text("pass\n")
    ended = project.type("drill", "--world", str(place.parent))
    assert ended.exit_code == 2 and "no clean*.py in attention_as_requested" in ended.stderr
    assert not (project.root / "instruments.jsonl").exists()
