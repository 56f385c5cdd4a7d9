"""The project's own gates and its questions for a person: proved, asked, answered, and told beside the seven lines."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.desk import Desk

from affidavit.cli import attest
from affidavit.cli.main import command
from affidavit.record import answers, ledger

SETTINGS = """
[[gate]]
name = "labels"
command = "python3 labels.py"
sabotage = "echo bad >> data.txt"

[[gate]]
name = "quick"
command = "test -s data.txt"
sabotage = ": > data.txt"
when = "run"
"""
QUESTION = """
[[attest]]
question = "Do the chats read like chats?"
about = ["data.txt"]
days = 30
"""


@pytest.fixture
def gated(project: Desk) -> Desk:
    """A project with two gates that can say no."""
    (project.root / "labels.py").write_text("import sys\nsys.exit('bad' in open('data.txt').read())\n")
    (project.root / "data.txt").write_text("good\n")
    (project.root / "affidavit.toml").write_text(SETTINGS)
    return project


def tree_of(root: Path) -> Mapping[str, bytes]:
    """Return what a project's files hold, but for what Affidavit itself keeps there."""
    held = (path for path in root.rglob("*") if path.is_file() and not {".affidavit", ".git"} & set(path.parts))
    return {str(path): path.read_bytes() for path in held if path.name != "instruments.jsonl"}


def findings_of(project: Desk, *words: str) -> Mapping[str, str]:
    return {one["check"]: one["verdict"] for one in project.document("show", *words)["findings"]}


def standing_of(project: Desk) -> Mapping[str, tuple[str, str]]:
    return {one["name"]: (one["verdict"], one["said"]) for one in project.document("show")["standing"]}


def test_a_preflight_proves_and_asks_the_gates_and_leaves_the_tree_as_it_was(gated: Desk) -> None:
    before = tree_of(gated.root)
    first = gated.train(verb="preflight")
    assert first.returncode == 0, first.stderr
    assert "affidavit: proving labels" in first.stderr and "2 gates proved, the oldest 20" in first.stderr
    assert first.stdout == "the loss falls\n", "not a word of ours on the command's own stdout"
    assert "never drilled" not in first.stderr
    found = findings_of(gated)
    assert (found["gates-say-yes"], found["instruments-proved"]) == ("PASS", "PASS")
    assert found["attestations-in-force"] == "NOT_APPLICABLE"
    assert tree_of(gated.root) == before

    (gated.root / "data.txt").write_text("bad\n")
    said = gated.train(verb="preflight")
    assert said.returncode == 1 and "the gate labels to say yes" in said.stderr.replace("\n", " ")
    assert standing_of(gated)["labels"][0] == "FAIL"
    ran = gated.train()
    assert ran.returncode == 0, "a run asks only the gates that are meant for it, and is not blocked by any"
    assert findings_of(gated)["gates-say-yes"] == "PASS"
    assert standing_of(gated)["quick"][1].startswith("says yes; proved")


def test_a_gate_that_cannot_say_no_fails_a_preflight_and_is_told_by_a_run(gated: Desk) -> None:
    (gated.root / "labels.py").write_text("print('fine')\n")
    assert gated.train(verb="preflight").returncode == 1
    (finding,) = [one for one in gated.document("show")["findings"] if one["check"] == "instruments-proved"]
    assert finding["verdict"] == "FAIL" and "labels: INERT, it says yes with the fault planted" in finding["message"]
    ran = gated.train(options=["--gate"])
    assert ran.returncode == 1 and "✗ instruments-proved" in ran.stderr


def test_an_unproved_gate_blocks_a_preflight_and_not_a_run(gated: Desk) -> None:
    text = SETTINGS.replace('"echo bad >> data.txt"', '"false"')
    (gated.root / "affidavit.toml").write_text(text)
    said = gated.train(verb="preflight")
    assert said.returncode == 4 and "gate labels UNPROVED" in said.stderr.replace("\n", " ")


def test_a_drill_of_the_gates_dates_each_and_ends_as_they_stand(gated: Desk) -> None:
    said = gated.type("drill", "--gates")
    assert said.exit_code == 0 and re.search(r"✓ labels  PROVED", said.stdout), said.stdout
    held = ledger.read(gated.root / "instruments.jsonl").last_of("gate", "labels")
    assert held is not None and {"command", "sabotage", "labels.py", "data.txt"} == set(held.on) and held.seconds > 0
    (gated.root / "labels.py").write_text("")
    assert gated.document("drill", "--gates")["gates"][0]["word"] == "INERT"
    assert gated.type("drill", "--gates").exit_code == 1
    (gated.root / "affidavit.toml").write_text(SETTINGS.replace("python3 labels.py", "false"))
    assert gated.type("drill", "--gates").exit_code == 4
    (gated.root / "affidavit.toml").write_text("")
    for asked, why in (([], "a [[gate]] in affidavit.toml, saw none"), (["--watch"], "saw 2 of them")):
        refused = gated.type("drill", "--gates", *asked)
        assert refused.exit_code == 2 and why in refused.stderr and "Not affected: " in refused.stderr


# --- attestations -----------------------------------------------------------------------------------------------------


@pytest.fixture
def asking(gated: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A project that asks one question, and a person who is there."""
    (gated.root / "affidavit.toml").write_text(QUESTION)
    monkeypatch.setattr(attest, "is_attended", lambda: True)
    return gated


def answer(project: Desk, typed: str, *words: str) -> int:
    with contextlib.chdir(project.root):
        return CliRunner(env=project.environment).invoke(command, ["attest", *words], input=typed).exit_code


def test_an_answer_is_kept_with_its_author_and_what_was_looked_at(asking: Desk) -> None:
    assert asking.document("attest")["attestations"][0]["why"] == "not attested"
    assert answer(asking, "yes\nread 40 of them\n") == 0
    (kept,) = answers.read(asking.root / "attestations.jsonl").given
    assert (kept.answer, kept.words, set(kept.about)) == ("yes", "read 40 of them", {"data.txt"})
    assert kept.author and kept.until > kept.time.date()
    assert asking.document("attest")["attestations"][0]["why"] == ""
    assert answer(asking, "") == 0, "what holds is not asked again"
    (one,) = as_it_lies(asking)["standing"]
    assert (one["name"], one["verdict"]) == ("Do the chats read like chats?", "PASS")
    assert "read 40 of them" in one["said"]

    (asking.root / "data.txt").write_text("other\n")
    assert asking.document("attest")["attestations"][0]["why"] == "changed since: data.txt"
    ended = asking.train(verb="preflight")
    assert ended.returncode == 4, "without a terminal nobody is asked, and nobody's answer is no yes"
    assert findings_of(asking)["attestations-in-force"] == "UNKNOWN"

    assert answer(asking, "no\nevery fifth is an advertisement\n") == 1
    (finding,) = [one for one in as_it_lies(asking)["findings"] if one["check"] == "attestations-in-force"]
    assert finding["verdict"] == "FAIL" and "every fifth is an advertisement" in finding["message"]


def as_it_lies(project: Desk) -> Any:
    """Return what is known before a command, which is not run."""
    return json.loads(project.type("check", "--project", "--json", "--", sys.executable, "train.py").stdout)


def test_a_question_can_be_left_for_later_and_asked_again(asking: Desk) -> None:
    assert answer(asking, "later\n") == 4 and not (asking.root / "attestations.jsonl").exists()
    assert answer(asking, "yes\n\n") == 0
    assert answer(asking, "no\nI was wrong, password: s3cr3t-value\n", "--again") == 1
    assert "s3cr3t" not in (asking.root / "attestations.jsonl").read_text()
    assert len(answers.read(asking.root / "attestations.jsonl").given) == 2
    assert "I was wrong" in asking.type("attest", "--list").stdout


def test_where_there_is_nothing_to_look_at_nothing_is_asked(asking: Desk) -> None:
    (asking.root / "data.txt").unlink()
    assert answer(asking, "") == 4
    assert "not asked: Do the chats read like chats? (nothing is there" in asking.type("attest").stderr
    assert "nothing is there to look at: data.txt" in asking.type("attest", "--list").stdout


def test_without_a_person_nothing_is_answered(asking: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attest, "is_attended", lambda: False)
    said = asking.type("attest")
    assert said.exit_code == 2 and "a person at a terminal" in said.stderr
    assert not (asking.root / "attestations.jsonl").exists()


def test_a_line_of_answers_that_is_bent_is_told_and_answers_nothing(asking: Desk) -> None:
    (asking.root / "attestations.jsonl").write_bytes(b'{"answer":"maybe"}\n\xff\n' + b"[" * 5000)
    said = asking.type("attest", "--list")
    assert said.exit_code == 4 and said.stderr.count("attestations.jsonl:") == 3


def test_what_could_not_be_kept_is_not_asked_and_not_proved(asking: Desk) -> None:
    (asking.root / "attestations.jsonl").mkdir()
    said = asking.type("attest")
    assert said.exit_code == 2 and "attestations.jsonl: expected a plain file" in said.stderr
    assert "look at data.txt" not in said.stderr
    (asking.root / "instruments.jsonl").mkdir()
    drilled = asking.type("drill", "--gates")
    assert drilled.exit_code == 2 and "instruments.jsonl: expected a plain file" in drilled.stderr


def test_a_preflight_asks_at_a_terminal_before_it_starts(asking: Desk) -> None:
    leader, follower = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "affidavit.cli", "preflight", "--", sys.executable, "-c", "print('own')"],
        cwd=asking.root,
        env=asking.environment,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    heard, until, typed = "", time.monotonic() + 40, ["yes\n", "as they should\n"]
    while time.monotonic() < until and started.poll() is None:
        with contextlib.suppress(OSError):  # the other end is closed
            if not select.select([leader], [], [], 0.1)[0]:
                continue
            heard += os.read(leader, 4096).decode(errors="replace")
            if typed and heard.rstrip().endswith(":"):
                os.write(leader, typed.pop(0).encode())
                heard += "\n"
    out, _ = started.communicate(timeout=20)
    os.close(leader)
    assert out == b"own\n" and "Do the chats read like chats?" in heard, heard
    (kept,) = answers.read(asking.root / "attestations.jsonl").given
    assert kept.words == "as they should"


# --- beside the seven lines -------------------------------------------------------------------------------------------


def test_a_clean_run_with_none_of_them_has_seven_lines(copied: Desk) -> None:
    assert copied.document("show", copied.runs["clean"])["standing"] == []


def test_a_waiver_in_force_is_told_in_every_form(copied: Desk, tmp_path: Path) -> None:
    (copied.root / "affidavit.toml").write_text(
        '[[waiver]]\ntarget = "attention-as-requested"\nreason = "known"\nauthor = "ada"\nuntil = 2099-01-01\n'
    )
    eager = copied.runs["eager"]
    assert "! waiver" in copied.type("show", eager).stdout
    (one,) = copied.document("show", eager)["standing"]
    assert one == {
        "kind": "waiver",
        "verdict": "REVIEW",
        "name": "attention-as-requested",
        "said": "until 2099-01-01: known (ada)",
    }
    page = tmp_path / "page.html"
    assert copied.type("report", eager, "--output", str(page)).exit_code == 0
    assert "until 2099-01-01: known (ada)" in page.read_text()


def test_a_correction_touches_a_run_that_is_locked_to_what_fell(copied: Desk) -> None:
    clean, users = copied.runs["clean"], copied.runs["users"]
    copied.type("accept", clean)
    term = next(iter(json.loads(copied.type("show", clean, "--json").stdout)["facts"]))["term"]
    locked = re.findall(r'^"?([a-z_.]+)"? = ', (copied.root / "affidavit.lock").read_text(), re.MULTILINE)
    fallen = next((name for name in locked if "." in name), term)
    assert (
        copied.type("annotate", users, "--falls", fallen, "--reviewed-nothing-else", "--why", "another seat").exit_code
        == 0
    )
    found = [one for one in copied.document("show", clean)["standing"] if one["kind"] == "correction"]
    assert [one["name"] for one in found] == [f"{fallen} of run {users}"] and "another seat" in found[0]["said"]
    assert not [one for one in copied.document("show", users)["standing"] if one["kind"] == "correction"]
