"""``run`` and ``preflight``: the command's own code and output, our words on stderr."""

from __future__ import annotations

import json
import re
import sys

import pytest
from tests.cli.desk import EAGER, USERS, Desk


def test_the_output_is_the_commands_own_and_ours_stands_beside_it(project: Desk) -> None:
    ended = project.train()
    assert ended.returncode == 0
    assert ended.stdout == "the loss falls\n"
    before, after = ended.stderr.split("4.1", 1)
    assert "before the command" in before and "✓ tree-is-committed" in before
    assert "FINISHED, step 3" in ended.stderr and "✓ 4.3 what ran is what was asked" in after


def test_run_returns_the_commands_own_code_whatever_was_found(project: Desk) -> None:
    assert project.train(EAGER).returncode == 0
    assert project.train(code=4).returncode == 4


def test_with_gate_a_command_that_ended_well_returns_the_verdict(project: Desk) -> None:
    assert project.train(options=("--gate",)).returncode == 0
    assert project.train(EAGER, options=("--gate",)).returncode == 1
    assert project.train(EAGER, options=("--gate",), code=3).returncode == 3
    assert project.train(USERS, options=("--gate",)).returncode == 0
    assert project.train(USERS, options=("--gate", "--strict")).returncode == 1


def test_the_live_checklist_comes_while_it_runs_and_is_not_said_twice(project: Desk) -> None:
    ended = project.train(EAGER, pause=1.5)
    assert ended.stderr.count("attention-as-requested  4.3") == 1
    assert "running, attempt 1, step 3" in ended.stderr
    last = " ".join(ended.stderr.rpartition("affidavit 20")[2].split())
    assert re.search(r"· FINISHED, step 3 · \d+ PASS, 2 FAIL", last), last


def test_stop_on_ends_the_command_where_the_check_fails_live(project: Desk) -> None:
    ended = project.train(EAGER, pause=30, options=("--stop-on", "attention-as-requested"))
    assert ended.returncode == 128 + 15
    shown = project.type("show").stdout
    assert "note     --stop-on attention-as-requested" in shown and "STOPPED (signal 15, SIGTERM)" in shown
    assert project.train(EAGER, pause=1, options=("--stop-on", "ranks-agree")).returncode == 0


def test_code_that_no_commit_holds_is_refused_before_it_runs(project: Desk) -> None:
    script = project.root / "train.py"
    script.write_text("print('edited')\n" + script.read_text())
    ended = project.train()
    assert ended.returncode == 1 and ended.stdout == ""
    assert "train.py (modified)" in ended.stderr and "REFUSED" in ended.stderr
    shown = project.type("show").stdout
    assert "REFUSED before it started" in shown and " checks: 1 FAIL, " in shown
    assert "attached on" not in shown and "UNKNOWN" not in shown, "nothing ran, so nothing is missing"
    assert project.type("check").exit_code == 1 and "REFUSED before it started" in project.type("ls").stdout
    allowed = project.train(options=("--tree", "allow", "--reason", "trying something"))
    assert allowed.returncode == 0 and "edited" in allowed.stdout
    gate = next(fact for fact in project.document("show")["facts"] if fact["term"] == "tree.gate")
    assert gate["resolved"]["value"] == {"str": "allow: trying something"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tree", "allow"), "--tree allow and --reason go together"),
        (("--tree", "allow", "--reason", " "), "--tree allow and --reason go together"),
        (("--reason", "because"), "--tree allow and --reason go together"),
        (("--stop-on", "no-such-check"), 'there is no check "no-such-check"'),
        (("--tokens", "all"), "'all' is not one of"),
    ],
)
def test_options_that_mean_nothing_are_refused_and_nothing_starts(
    project: Desk, options: tuple[str, ...], said: str
) -> None:
    ended = project.train(options=options)
    assert ended.returncode == 2 and said in ended.stderr and ended.stdout == ""
    assert not (project.root / ".affidavit").exists()


def test_a_command_that_is_none_ends_as_in_a_shell(project: Desk) -> None:
    assert project.start("run", "--", "no-such-program").returncode == 127
    (project.root / "plain.txt").write_text("no program")
    assert project.start("run", "--", "./plain.txt").returncode == 126
    assert project.start("run").returncode == 2


def test_a_command_that_never_trains_says_so_and_keeps_its_code(project: Desk) -> None:
    ended = project.start("run", "--", sys.executable, "-c", "import sys; sys.exit(3)")
    assert ended.returncode == 3
    assert ended.stderr.count("no training was seen: ") == 1 and "attached on" not in ended.stderr
    assert "UNKNOWN" in ended.stderr and "Traceback" not in ended.stderr


def test_a_report_that_cannot_be_made_does_not_become_the_exit_code(project: Desk) -> None:
    (project.root / "affidavit.lock").write_text("format = 99\n")
    ended = project.train(code=3)
    assert ended.returncode == 3
    before, _, after = ended.stderr.partition("format 99; this version reads 1")
    assert "before the command" in before and "format 99; this version reads 1" in after
    assert "or remove it and accept a run anew" in after


def test_preflight_returns_the_verdict(project: Desk) -> None:
    assert project.train(verb="preflight").returncode == 0
    ended = project.train(EAGER, verb="preflight")
    assert ended.returncode == 1
    assert "judged again at step 2 of the real run: attention.executed" in ended.stderr
    assert project.train(verb="preflight", code=5).returncode == 4


def test_the_run_leaves_the_users_tree_clean(project: Desk) -> None:
    import subprocess

    project.train()
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=project.root, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_a_secret_on_the_command_line_is_on_no_screen(project: Desk) -> None:
    secret = "hf_" + "Zq8" * 11
    project.start("run", "--", sys.executable, "-c", "pass", f"--hub-token={secret}")
    told = [project.type(*words).stdout for words in (("show", "--facts"), ("ls",), ("show", "--json"))]
    assert all(told) and not any(secret in page for page in told)
    assert json.loads(told[-1])["kind"] == "run"
