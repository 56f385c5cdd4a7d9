"""``claims``: what is wrong with the numbers of a project, what mends it, and what keeps a command from starting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.desk import Desk

REBUILD = {
    "name": "encode-cache-rebuild",
    "value": 145.5,
    "unit": "s",
    "date": "2026-11-30T10:00:00Z",
    "device": {"processor": "one"},
}
HELLO = 'print("hello")\n'
OLD = "# ~4.3 HOURS to rebuild the encode cache\n"
TAKE_BACK = ("encode-cache-estimate", "--was", "~4.3 HOURS", "--by", "encode-cache-rebuild", "--why", "an estimate")


def commit(root: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-q", "-m", "again"], cwd=root, check=True)


@pytest.fixture
def measured(project: Desk) -> Desk:
    """A project with one measurement, a page that says it right, and a script that does nothing slow."""
    (project.root / "measurements.jsonl").write_text(json.dumps(REBUILD) + "\n")
    (project.root / "README.md").write_text("It takes [145.5 s](claim:encode-cache-rebuild).\n")
    (project.root / "train.py").write_text(HELLO)
    commit(project.root)
    return project


@pytest.fixture
def corrected(measured: Desk) -> Desk:
    """The same, after an estimate was taken back."""
    assert measured.type("claims", "supersede", *TAKE_BACK).exit_code == 0
    commit(measured.root)
    return measured


def test_a_right_number_is_quiet_and_a_wrong_one_is_told_at_its_place(measured: Desk) -> None:
    said = measured.type("claims", "check")
    assert said.exit_code == 0 and "1 claim and 0 old values" in " ".join(said.output.split())
    (measured.root / "README.md").write_text("\nIt takes [4.3 HOURS](claim:encode-cache-rebuild).\n")
    said = measured.type("claims", "check")
    assert said.exit_code == 1 and "README.md:2" in said.output and "145.5 s was measured" in said.output
    assert measured.type("claims", "check", "train.py").exit_code == 0


def test_a_number_of_other_code_waits_day_to_day_and_fails_for_a_release(measured: Desk) -> None:
    code = {"train.py": "sha256:" + "0" * 64}
    (measured.root / "measurements.jsonl").write_text(json.dumps({**REBUILD, "code": code}) + "\n")
    daily = measured.type("claims", "check")
    assert daily.exit_code == 0 and "REVIEW   claims-fresh" in daily.output
    assert measured.type("claims", "check", "--strict").exit_code == 1
    release = measured.type("claims", "check", "--release")
    assert release.exit_code == 1 and "FAIL     claims-fresh" in release.output
    assert "train.py changed since 2026-11-30" in " ".join(release.output.split())


def test_the_documents_say_the_same_as_the_text(corrected: Desk) -> None:
    (corrected.root / "new.sh").write_text(OLD)
    document = json.loads(corrected.type("claims", "check", "--json").output)
    (finding,) = [found for found in document["findings"] if found["check"] == "claims-bound"]
    assert [(site["path"], site["line"]) for site in finding["sites"]] == [("new.sh", 1)]
    assert document["decision"]["exit_code"] == 1
    log = json.loads(corrected.type("claims", "check", "--sarif").output)
    failing = [result for result in log["runs"][0]["results"] if result["kind"] == "fail"]
    assert [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in failing] == [1]


def test_a_line_that_cannot_be_read_is_unknown(measured: Desk) -> None:
    with (measured.root / "measurements.jsonl").open("a") as file:
        file.write("{broken\n")
    said = measured.type("claims", "check")
    assert said.exit_code == 4 and "measurements.jsonl:2" in said.output.replace("\n", "")
    for verb, code in (("fix", 4), ("ls", 0)):
        told = measured.type("claims", verb)
        assert told.exit_code == code and "measurements.jsonl:2: not read" in told.stderr


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_of_measurements_is_refused_and_waited_for_by_nobody(project: Desk, kind: str) -> None:
    path = project.root / "measurements.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    refused = project.type("claims", "supersede", "a-guess", "--was", "4 h", "--why", "x")
    assert refused.exit_code == 2 and "measurements.jsonl" in refused.output
    assert [project.type("claims", verb).exit_code for verb in ("check", "fix")] == [4, 4]
    document = json.loads(project.type("check", "--project", "--json", "--", sys.executable, "-V").output)
    told = {found["check"]: found["verdict"] for found in document["findings"]}
    assert told["claims-bound"] == "UNKNOWN"
    path.unlink() if kind == "pipe" else path.rmdir()


def test_a_successor_that_was_taken_back_itself_is_none(corrected: Desk) -> None:
    before = (corrected.root / "measurements.jsonl").read_text()
    words = ("supersede", "encode-cache-rebuild", "--by", "encode-cache-estimate", "--why", "a circle")
    refused = corrected.type("claims", *words)
    assert refused.exit_code == 2 and "encode-cache-estimate, which was taken back itself" in refused.output
    assert (corrected.root / "measurements.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "nowhere.md"), "nothing at nowhere.md"),
        (("check", "--json", "--sarif"), "two documents"),
        (("supersede", "encode-cache-rebuld", "--why", "x"), "did you mean encode-cache-rebuild?"),
        (("supersede", "encode-cache-rebuild", "--by", "encode-cache-rebuild", "--why", "x"), "in its own place"),
        (("supersede", "encode-cache-rebuild", "--why", " "), "no reason"),
        (("supersede", "encode-cache-rebuild", "--was", "4 h", "--why", "x"), "of one claim that was never measured"),
        (("supersede", "a-b", "--was", "long", "--why", "x"), "one number with its unit"),
        (("supersede", "A_b", "--was", "4 h", "--why", "x"), "one number with its unit"),
    ],
)
def test_what_cannot_be_asked_is_refused(measured: Desk, words: tuple[str, ...], said: str) -> None:
    before = (measured.root / "measurements.jsonl").read_text()
    ended = measured.type("claims", *words)
    assert ended.exit_code == 2 and said in ended.output
    assert (measured.root / "measurements.jsonl").read_text() == before


@pytest.mark.parametrize("verb", ["check", "ls", "fix"])
def test_a_project_in_which_nothing_was_measured_is_no_pass(project: Desk, verb: str) -> None:
    ended = project.type("claims", verb)
    assert ended.exit_code == 2 and "that is no pass" in ended.output


def test_what_was_measured_is_listed_with_its_places(corrected: Desk) -> None:
    told = json.loads(corrected.type("claims", "ls", "--json").output)["claims"]
    assert [(one["claim"], one["says"], one["places"]) for one in told] == [
        ("encode-cache-estimate", "4.3 HOURS", []),
        ("encode-cache-rebuild", "145.5 s", ["README.md:1"]),
    ]
    assert told[0]["doubt"] == "taken back: an estimate; it is 145.5 s (encode-cache-rebuild)"
    text = " ".join(corrected.type("claims", "ls").output.split())
    assert "taken back: an estimate" in text and "README.md:1" in text


def test_a_diff_is_printed_and_only_what_git_can_bring_back_is_written(corrected: Desk) -> None:
    (corrected.root / "tracked.sh").write_text(OLD)
    commit(corrected.root)
    (corrected.root / "untracked.sh").write_bytes(b"# caf\xe9\n\n" + OLD.encode())
    printed = corrected.type("claims", "fix")
    assert printed.exit_code == 1 and b"\n # caf\xe9\n" in printed.stdout_bytes
    assert printed.stdout.count("+# ~145.5 s (claim: encode-cache-rebuild) to rebuild the encode cache\n") == 2
    written = corrected.type("claims", "fix", "--write")
    assert written.exit_code == 1 and "untracked.sh: not written, not tracked; 1 place to mend" in written.output
    assert "4.3" not in (corrected.root / "tracked.sh").read_text()
    assert (corrected.root / "untracked.sh").read_bytes().endswith(OLD.encode())
    (corrected.root / "untracked.sh").unlink()
    assert corrected.type("claims", "fix").exit_code == 0
    assert corrected.type("claims", "check").exit_code == 0


def test_a_claim_without_a_successor_is_mended_by_hand(measured: Desk) -> None:
    (measured.root / "notes.md").write_text("Rebuilding the encode cache takes 145.5 s.\n")
    words = ("supersede", "encode-cache-rebuild", "--why", "another seat", "--scope-was", "the serving seat", "--json")
    assert json.loads(measured.type("claims", *words).output)["now"] == ""
    ended = measured.type("claims", "fix")
    assert ended.exit_code == 1 and ended.stdout == ""
    assert "notes.md:1: by hand" in ended.stderr and "README.md:1: by hand" in ended.stderr


def test_what_cannot_be_looked_for_is_said_where_it_is_taken_back(measured: Desk) -> None:
    with (measured.root / "measurements.jsonl").open("a") as file:
        file.write(json.dumps({**REBUILD, "name": "names-read", "value": 38000, "unit": "names"}) + "\n")
    ended = measured.type("claims", "supersede", "names-read", "--why", "x")
    assert ended.exit_code == 0 and "names-read: its unit is none that is looked for" in " ".join(ended.output.split())


# --- before a command --------------------------------------------------------------------------------------------


def test_run_refuses_a_new_launcher_that_says_an_old_number_and_nothing_of_it_ran(corrected: Desk) -> None:
    launcher = corrected.root / "new.sh"
    launcher.write_text(f"#!/bin/sh\n{OLD}exec {sys.executable} train.py\n")
    launcher.chmod(0o755)
    refused = corrected.start("run", "--", "./new.sh")
    assert refused.returncode == 1 and refused.stdout == ""
    assert "new.sh:2" in refused.stderr and "--numbers tell" in refused.stderr
    assert "REFUSED before it started" in corrected.type("show", "last").output
    rehearsed = corrected.start("preflight", "--", "./new.sh")
    assert rehearsed.returncode == 1 and 'numbers = "tell" under [run]' in rehearsed.stderr
    told = corrected.start("run", "--numbers", "tell", "--", "./new.sh")
    assert (told.returncode, told.stdout) == (0, "hello\n")
    launcher.write_text(launcher.read_text().replace("4.3 HOURS", "145.5 s (claim: encode-cache-rebuild)"))
    assert corrected.start("run", "--", "./new.sh").stdout == "hello\n"


def test_a_launcher_that_calls_us_is_read_as_well(corrected: Desk) -> None:
    launcher = corrected.root / "outer.sh"
    launcher.write_text(f"{OLD}{sys.executable} -m affidavit.cli run -- {sys.executable} train.py\n")
    ended = subprocess.run(
        ["sh", "-eu", "outer.sh"],
        cwd=corrected.root,
        env=corrected.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1 and "outer.sh:1" in ended.stderr and ended.stdout == ""


@pytest.mark.parametrize(
    "settings",
    [
        '[run]\nnumbers = "tell"\n',
        '[[waiver]]\ntarget = "claims-bound"\nreason = "known"\nauthor = "me"\nuntil = 2999-01-01\n',
    ],
)
def test_a_setting_or_a_waiver_lets_the_command_start(corrected: Desk, settings: str) -> None:
    (corrected.root / "affidavit.toml").write_text(settings)
    (corrected.root / "train.py").write_text(OLD + HELLO)
    commit(corrected.root)
    started = corrected.start("run", "--", sys.executable, "train.py")
    assert started.stdout == "hello\n", started.stderr


def test_a_project_without_measurements_hears_nothing(project: Desk) -> None:
    (project.root / "train.py").write_text(f"{OLD}# claim: no-such-claim\n{HELLO}")
    commit(project.root)
    document = json.loads(project.type("check", "--project", "--json", "--", sys.executable, "train.py").output)
    told = {found["check"]: found["verdict"] for found in document["findings"] if found["check"].startswith("claims")}
    assert told == {"claims-bound": "NOT_APPLICABLE", "claims-fresh": "NOT_APPLICABLE"}


def test_a_reader_of_ours_that_fails_keeps_no_command_from_starting(
    corrected: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("affidavit.claims.survey.survey", fails)
    ended = corrected.type("check", "--project", "--json", "--", sys.executable, "train.py")
    told = {fact["term"]: fact["resolved"] for fact in json.loads(ended.stdout)["facts"]}
    assert "RecursionError: too deep" in json.dumps(told["claims.copies"])
