"""What a sabotage reaches is the copy, and what a gate hangs on is in it; what broke the gate proves nothing of it."""

from __future__ import annotations

import datetime
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.record.declared import Gate, Question
from affidavit.run import questions
from affidavit.run.proofs import copied, files, gates, shell, standing, words
from affidavit.settings import Settings

TODAY = datetime.date(2026, 12, 1)
LABELS = Gate(name="labels", command="python3 labels.py", sabotage="echo bad >> data.txt")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree with a gate that can say no, and an environment beside it that git ignores."""
    root = tmp_path / "tree"
    programs, packages = root / "venv" / "bin", root / "venv" / "lib" / "python3" / "site-packages"
    for folder in (programs, packages):
        folder.mkdir(parents=True)
    (root / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (packages / "installed.py").write_text("held = 1\n")
    (programs / "check").write_text('#!/bin/sh\ntest "$1" = rows && ! grep -q bad data.txt\n')
    (programs / "check").chmod(0o755)
    (programs / "activate").write_text(f"PATH={programs}:$PATH\n")
    (root / "labels.py").write_text("import sys\nsys.exit('bad' in open('data.txt').read())\n")
    (root / "data.txt").write_text("good\n")
    (root / ".gitignore").write_text("venv\nkept\n")
    for asked in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "As it is"]):
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=a@localhost", *asked], cwd=root, check=True)
    return root


def _told(gate: Gate, tree: Path) -> str:
    proved = gates.prove(gate, tree, os.environ)
    return f"{proved.word} {proved.why}"


@pytest.mark.parametrize("sabotage", ["rm -rf venv/lib/*", "echo exit 1 > venv/bin/check", "rm -rf venv"])
def test_a_sabotage_of_the_environment_reaches_no_real_one(tree: Path, sabotage: str) -> None:
    told = _told(replace(LABELS, sabotage=sabotage), tree)
    assert told == "ERROR the sabotage changes nothing"
    assert (tree / "venv/lib/python3/site-packages/installed.py").read_text() == "held = 1\n"
    assert (tree / "venv/bin/check").read_text().startswith("#!/bin/sh\ntest")


@pytest.mark.parametrize("command", ["venv/bin/check rows", ". venv/bin/activate && check rows"])
def test_a_command_of_an_environment_in_the_tree_runs_in_the_copy(tree: Path, command: str) -> None:
    assert _told(replace(LABELS, command=command), tree) == "PROVED exit code 1"


def test_an_environment_is_neither_committed_nor_moved(tree: Path) -> None:
    named = {**os.environ, "VIRTUAL_ENV": str(tree / "venv"), "DATA": str(tree / "data.txt")}
    with copied.copied(tree, named) as copy:
        line = "git status --porcelain; git ls-files venv; echo $VIRTUAL_ENV; echo $DATA"
        said = shell.run(line, folder=copy.folder, environment=copy.environment, seconds=20)
        assert said.tail.splitlines() == [str(tree / "venv"), f"{copy.folder}/data.txt"]


def test_a_pattern_that_can_name_nothing_names_nothing(tree: Path) -> None:
    assert files.matching(tree, ["a" * 5000, "*.txt"]) == ("data.txt",)


@pytest.mark.parametrize(
    "printed", ["token=s3cr3t-value", "see https://ada:s3cr3t-value@host/x", "hf_s3cr3tvalueAbCdEfGhIjKlMnOpQrStUv"]
)
def test_no_secret_that_a_gate_prints_is_kept(tree: Path, printed: str) -> None:
    said = shell.run(f"echo 'rows differ: {printed}'; exit 1", folder=tree, environment=os.environ, seconds=20)
    assert said.why.startswith("exit code 1 (rows differ: ") and "[redacted]" in said.why and "s3cr3t" not in said.why


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("python check.py rows.txt", {"python", "check.py"}),
        ("python3.11 -W error -u ./check.py", {"python3.11", "check.py"}),
        ("A=1 ./check.sh data.sh", {"check.sh"}),
        ("bash check.sh | tee log.txt; test -s rows.txt", {"bash", "check.sh", "tee", "test"}),
        ("! sh -e a.sh && . ./b.sh", {"sh", "a.sh", ".", "b.sh"}),
        ("if python a.py; then (python b.py) fi", {"python", "a.py", "b.py", "fi"}),
        ("python -c 'open(1)' rows.py", {"python"}),
        ("pytest -q tests/test_a.py::test_b rows.txt", {"pytest", "tests/test_a.py"}),
        ("grep -c 'it is", {"grep"}),
        ("", set()),
    ],
)
def test_what_a_line_runs_is_told_from_what_it_reads(command: str, run: set[str]) -> None:
    assert words.programs(command) == run


def test_a_module_is_what_a_line_runs() -> None:
    assert {"pkg/check.py", "src/pkg/check/__main__.py"} <= words.programs("python -m pkg.check rows.py")
    assert "tests/test_a.py" in words.programs("python -m pytest tests/test_a.py")


@pytest.mark.parametrize("sabotage", ["rm labels.py", "echo 'def' >> labels.py"])
def test_a_sabotage_that_breaks_the_gate_itself_proves_nothing(tree: Path, sabotage: str) -> None:
    assert _told(replace(LABELS, sabotage=sabotage), tree).startswith("ERROR the sabotage changes the gate itself (lab")


def test_a_gate_that_dies_inside_of_a_list_has_said_nothing(tree: Path) -> None:
    dies = replace(LABELS, command="if grep -q bad data.txt; then sh -c 'kill -11 $$'; fi")
    assert _told(dies, tree).startswith("ERROR it said neither yes nor no to the planted fault: ended by signal 11")
    beyond = shell.run("exit 255", folder=tree, environment=os.environ, seconds=20)
    assert beyond.is_no and beyond.code == 255


def test_nothing_is_proved_or_asked_of_a_file_that_has_no_digest(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gates.hangs_on(LABELS, tree)
    monkeypatch.setattr(files, "FILE_BYTES", 4)
    why = "data.txt cannot be read: 5 bytes, 4 allowed"
    data = replace(LABELS, command="! grep bad data.txt")
    assert _told(data, tree) == f"ERROR {why}"
    line = standing.gate_line(data, gates.Proved(word="PROVED", why="", seconds=0.1), tree, TODAY)
    assert line.doubt(gates.hangs_on(data, tree), as_of=TODAY, days=9) == why, "the same text is not the same bytes"
    assert line.doubt(whole, as_of=TODAY, days=9).startswith("changed since: ")
    question = Question(question="Good?", about=("data.txt",), days=3)
    ((one,), _) = questions.asked(Settings(root=tree, questions=(question,)), TODAY)
    assert (one.can_be_asked, one.why) == (False, why)
    yes = questions.answered(one, yes=True, words="", author="ada", time=datetime.datetime(2026, 12, 1))
    assert yes.doubt(one.about, as_of=TODAY, days=3) == why


def test_a_file_without_a_digest_is_not_lost_among_many(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(files.SINGLY):
        (tree / f"{number}.row").write_text("x")
    monkeypatch.setattr(files, "FILE_BYTES", 4)
    held = files.digests(tree, files.matching(tree, ["*.row", "data.txt"]))
    assert sorted(held) == [f"{files.SINGLY + 1} files", "data.txt"]


def test_a_gate_over_what_git_ignores_is_told_to_cover_it_and_is_proved_then(tree: Path) -> None:
    (tree / "kept").mkdir()
    (tree / "kept" / "rows.txt").write_text("good\n")
    named = replace(LABELS, command="test -s kept/rows.txt", sabotage=": > kept/rows.txt")
    assert _told(named, tree).endswith("exit code 1; git ignores kept/rows.txt; name it in covers")
    (tree / "reads.py").write_text("open('kept/rows.txt').read()[0]\n")
    opened = replace(named, command="python3 reads.py", sabotage="true")
    assert _told(opened, tree).endswith("git ignores kept/rows.txt; name it in covers")
    for covers in (("kept/*",), ("kept",), ("**/*",)):
        assert _told(replace(named, covers=covers), tree) == "PROVED exit code 1"
    assert (tree / "kept" / "rows.txt").read_text() == "good\n"
    assert "git ignores" not in _told(replace(LABELS, command="false"), tree)


@pytest.mark.parametrize(
    ("command", "sabotage"),
    [
        ("git ls-files --error-unmatch data.txt", "git rm -q --cached data.txt"),
        ("git diff --cached --quiet", "git add data.txt"),
        ("test $(git rev-list --count HEAD) = 1", "git -c user.name=A -c user.email=a@b commit -qm x --allow-empty"),
    ],
)
def test_a_fault_that_is_planted_in_the_repository_is_one(tree: Path, command: str, sabotage: str) -> None:
    word = "ERROR the sabotage changes nothing" if "git add" in sabotage else "PROVED exit code 1"
    assert _told(replace(LABELS, command=command, sabotage=sabotage), tree).startswith(word)
