"""The verbs that look: each in text and JSON, none changes a run."""

from __future__ import annotations

import re
import sys

import pytest
from tests.cli.desk import CLEAN, USERS, Desk


def test_show_opens_with_the_checklist_and_ends_with_the_count(trained: Desk) -> None:
    ended = trained.type("show")
    rows = ended.stdout.splitlines()
    assert ended.exit_code == 0
    assert rows[0].startswith("affidavit ") and "FINISHED, step 3" in rows[0]
    assert [row[2:5] for row in rows if row[1:4] == " 4."] == [f"4.{number}" for number in range(1, 8)]
    count = re.fullmatch(r"(\d+) checks: (\d+) PASS, (\d+) NOT_APPLICABLE. Drilled: 0 of (\d+) .*", rows[-1])
    assert count is not None, rows[-1]  # how many there are is no business of the face
    every, passed, rest, drilled = map(int, count.groups())
    assert passed >= 5 and passed + rest == every == drilled
    assert len(rows) <= 16 and max(map(len, rows)) <= 80


def test_show_lists_every_fact_with_how_it_is_known(trained: Desk) -> None:
    page = trained.type("show", "--facts").stdout
    assert "attention.kernels" in page and "flash  executed: narrator" in page
    assert "0, user, 4, 40, 0, 4, 0" in page


@pytest.mark.parametrize(
    ("run", "words", "code"),
    [
        ("clean", (), 0),
        ("eager", (), 1),
        ("blind", (), 4),
        ("users", (), 0),
        ("users", ("--strict",), 1),
    ],
)
def test_check_returns_the_verdict(trained: Desk, run: str, words: tuple[str, ...], code: int) -> None:
    assert trained.type("check", trained.runs[run], *words).exit_code == code


def test_a_project_is_judged_as_it_lies_and_nothing_runs(project: Desk) -> None:
    words = ("check", "--project", "--", sys.executable, "train.py", "--json")
    assert project.type(*words).exit_code == 0
    script = project.root / "train.py"
    script.write_text("raise SystemExit('it ran')\n")
    ended = project.type(*words)
    assert ended.exit_code == 1 and "train.py (modified)" in ended.stdout and "it ran" not in ended.output
    assert "4.3 what ran is what was asked             not covered: no check is owed here" in ended.stdout
    assert not (project.root / ".affidavit").exists()


def test_check_takes_one_run_or_one_command(trained: Desk) -> None:
    assert trained.type("check", "last", "last").exit_code == 2
    assert "--project needs the command" in trained.type("check", "--project").stderr


def test_a_waiver_lets_through_what_is_still_found(copied: Desk) -> None:
    waiver = '[[waiver]]\ntarget = "{}"\nreason = "on purpose"\nauthor = "Ada"\nuntil = 2999-01-01\n'
    checks = ("attention-as-requested", "attention-consistent")
    (copied.root / "affidavit.toml").write_text("\n".join(map(waiver.format, checks)))
    ended = copied.type("check", copied.runs["eager"])
    assert ended.exit_code == 0
    assert "FAIL     attention-as-requested" in ended.stdout and "waived by Ada until 2999-01-01" in ended.stdout


def test_the_document_and_the_text_tell_the_same(trained: Desk) -> None:
    said = trained.document("check")
    assert said["format"] == 1 and said["subject"] == trained.runs["clean"]
    counts = said["decision"]["counts"]
    assert set(counts) == {"PASS", "NOT_APPLICABLE"} and sum(counts.values()) == len(said["findings"])
    assert f"{counts['PASS']} PASS, {counts['NOT_APPLICABLE']} NOT_APPLICABLE" in trained.type("check").stdout


def test_ls_lists_the_newest_first(trained: Desk, project: Desk) -> None:
    assert "no run yet" in project.type("ls").stdout
    rows = trained.type("ls").stdout.splitlines()
    assert [row.split()[0] for row in rows] == list(reversed(trained.runs.values()))
    assert all("FINISHED, step 3" in row for row in rows)
    said = {entry["run"]: entry for entry in trained.document("ls")["runs"]}
    assert {entry["recipe"] for entry in said.values()} == {"train"}
    assert (
        said[trained.runs["eager"]]["verdicts"]["FAIL"] >= 1 and "FAIL" not in said[trained.runs["clean"]]["verdicts"]
    )
    loud = {row.split()[0]: row for row in rows}
    assert " FAIL  " in loud[trained.runs["eager"]] and "1 REVIEW" in loud[trained.runs["users"]]
    assert "step 3  ✓" in loud[trained.runs["clean"]]
    assert "and 3 older" in trained.type("ls", "--limit", "1").stdout


def test_ls_says_which_run_cannot_be_read_and_lists_the_others(copied: Desk) -> None:
    manifest = copied.root / ".affidavit/runs" / copied.runs["clean"] / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text('{"format": 1, "format": 2}')
    ended = copied.type("ls")
    assert ended.exit_code == 0 and ended.stdout.count("FINISHED") == 3
    assert f"{copied.runs['clean']}  manifest" in ended.stdout


def test_tokens_are_lit_and_cannot_steer_the_terminal(trained: Desk) -> None:
    page = trained.type("tokens").stdout
    assert page.startswith("36 of 76 tokens carry the loss; the script asked for: assistant\n")
    assert "⟦No, blue.<eos>⟧" in page
    assert "\x1b" not in page and "\\x1b[31mred\\x1b[0m" in page
    said = trained.document("tokens")
    assert [span["lit"] for span in said["tokens"]["rows"][0]["spans"]] == [False, True]


def test_of_two_trainings_the_worse_one_is_told_and_each_can_be_looked_at(project: Desk) -> None:
    """The first lights the assistant's words; what waits for a review is the second."""
    assert project.train(CLEAN, USERS).returncode == 0
    told = " ".join(project.type("show").stdout.split())
    assert "REVIEW never drilled no adapter;" in told and "attention: sdpa asked, flash ran on 4 layers" in told
    assert "loss on assistant, user: 76 of 76 tokens" in told and "training 2 of 2" in told
    assert project.type("tokens").stdout.startswith("training 2 of 2\n76 of 76 tokens")
    assert project.type("tokens", "--training", "1").stdout.startswith("training 1 of 2\n36 of 76 tokens")
    assert (project.document("tokens")["training"], project.document("tokens", "--training", "1")["training"]) == (2, 1)
    refused = project.type("tokens", "--training", "3")
    assert refused.exit_code == 2 and "--training 3: the run has 2." in refused.stderr


def test_tokens_that_are_gone_or_altered_are_said_to_be(copied: Desk) -> None:
    assert "rank 3 said nothing" in copied.type("tokens", "--rank", "3").stdout
    (kept,) = (copied.root / ".affidavit/runs" / copied.runs["clean"] / "tokens").iterdir()
    kept.write_text(kept.read_text().replace("blue", "pink"))
    ended = copied.type("tokens")
    assert ended.exit_code == 2 and "other content" in ended.stderr and "pink" not in ended.stdout
    kept.unlink()
    assert "is gone" in copied.type("tokens").stdout


def test_diff_shows_meaning_and_counts_the_rest(trained: Desk) -> None:
    ended = trained.type("diff", trained.runs["clean"], trained.runs["eager"])
    assert ended.exit_code == 1
    assert "  attention ran as flash (A) / eager (B)  " in ended.stdout
    assert trained.type("diff", "last", "last").exit_code == 0
    said = trained.document("diff", trained.runs["clean"], trained.runs["eager"])
    (kernels,) = [entry for entry in said["differences"] if entry["category"] == "meaning"]
    assert (kernels["term"], kernels["left"], kernels["right"]) == ("attention.kernels", "flash", "eager")


def test_diff_with_a_run_that_saw_less_is_neither_equal_nor_different(trained: Desk) -> None:
    ended = trained.type("diff", trained.runs["clean"], trained.runs["blind"])
    assert ended.exit_code == 4 and "4 facts not recorded in B: attention.*" in ended.stdout


@pytest.mark.parametrize("verb", ["show", "check", "tokens", "accept"])
def test_a_run_that_is_not_there_gives_one_clear_error(trained: Desk, verb: str) -> None:
    run = trained.runs["clean"]
    ended = trained.type(verb, f"{run[:-2]}zz")
    assert ended.exit_code == 2 and ended.stdout == ""
    assert run in ended.stderr and 'Run "affidavit ls"' in ended.stderr


def test_a_run_is_found_by_the_beginning_of_its_id(trained: Desk) -> None:
    assert trained.type("show", trained.runs["clean"][:-2]).exit_code == 0


def test_explain_tells_a_check_from_its_own_file(trained: Desk) -> None:
    page = trained.type("explain", "attention-as-requested").stdout
    assert "A request is what a script says" in page
    assert "attention.executed" in page and 'never; run "affidavit drill"' in page
    assert "another implementation was asked for" in page
    said = trained.document("explain", "attention-as-requested")["checks"][0]
    assert "attention.executed" in said["needs"] and said["sabotages"]


def test_explain_tells_a_term_and_who_reads_it(trained: Desk) -> None:
    page = trained.type("explain", "tokens.supervised_roles").stdout
    assert "read by" in page and "supervised-roles-reviewed" in page
    assert len(trained.type("explain", "--checks").stdout.splitlines()) >= 9
    assert "attention.kernels" in trained.type("explain", "--terms").stdout


def test_explain_without_a_name_lists_the_checks(trained: Desk) -> None:
    assert trained.type("explain").stdout == trained.type("explain", "--checks").stdout
    assert "lock-holds  " in trained.type("explain").stdout


def test_explain_takes_the_number_of_a_line_of_the_report(trained: Desk) -> None:
    page = trained.type("explain", "4.4").stdout
    assert page.startswith("4.4 the commit describes the code\n") and "tree-is-committed  " in page
    assert "attention-as-requested" not in page
    assert "claims-bound  " in trained.type("explain", "4.7").stdout
    assert trained.type("explain", "4.9").exit_code == 2


def test_explain_names_what_is_near(trained: Desk) -> None:
    ended = trained.type("explain", "attention.kernel")
    assert ended.exit_code == 2 and "--terms" in ended.stderr and "attention.kernels" in ended.stderr
