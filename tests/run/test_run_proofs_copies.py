"""What a sabotage reaches is the copy, and what a gate hangs on is in it; what broke the gate proves nothing of it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.record.declared import Gate
from affidavit.run.proofs import copied, files, gates, shell

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
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "As it is"]):
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=a@localhost", *words], cwd=root, check=True)
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
