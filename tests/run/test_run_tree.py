"""The tree gate: what runs and deviates stops the command, what is merely dirty does not, and nothing is touched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from run_world import Project

from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.values import Table
from affidavit.observe import git as observed_git
from affidavit.run.command import read_command
from affidavit.run.tree import GateAnswer, examine_tree

TRAIN = "import helper\nimport yaml_free\n\nprint(helper.K)\n"


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(root), *identity, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(autouse=True)
def own_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(project: Project) -> Project:
    """A clean repository with a script, two modules it imports, a config it is given, a note and a test."""
    files = {
        "train.py": TRAIN,
        "helper.py": "K = 1\n",
        "yaml_free.py": "",
        "sft.yaml": "lr: 1\n",
        "README.md": "x\n",
        "test_it.py": "",
        "affidavit.lock": "",
        "nb.ipynb": '{"cells": [{"cell_type": "code", "source": ["1"], "outputs": []}]}',
        ".gitignore": "secret_sauce.py\n",
    }
    for name, text in files.items():
        (project.root / name).write_text(text)
    git(project.root, "init", "-q", "-b", "main")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "all")
    return project


def ask(project: Project, *, gate: str = "refuse", reason: str = "", run: str = "r1") -> GateAnswer:
    argv = (sys.executable, "train.py", "--config", "sft.yaml")
    command = read_command(argv, cwd=project.root, environment=project.environment)
    environment = {**project.environment, "PYTHONPATH": ""}
    return examine_tree(command, project=project.root, environment=environment, gate=gate, reason=reason, run=run)


def states(answer: GateAnswer) -> Mapping[str, State]:
    return {fact.name: fact.state for fact in answer.facts}


def value(answer: GateAnswer, name: str) -> object:
    state = states(answer)[name]
    assert isinstance(state, Known), state
    return state.value


def rows(answer: GateAnswer) -> tuple[tuple[object, ...], ...]:
    table = value(answer, "tree.deviations")
    assert isinstance(table, Table)
    return table.rows


def fingerprint(root: Path) -> dict[str, str]:
    """Return everything of the user's that a gate could disturb: work tree, index, HEAD, branches, stash."""
    found = {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
    for name in ("index", "HEAD"):
        found[name] = hashlib.sha256((root / ".git" / name).read_bytes()).hexdigest()
    refs = git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found["refs"] = "\n".join(ref for ref in refs if not ref.startswith("refs/affidavit/"))
    found["stash"] = git(root, "stash", "list")
    found["status"] = git(root, "status", "--porcelain=v2", "--branch")
    return found


def test_a_clean_tree_is_described_by_its_commit(tree: Project) -> None:
    answer = ask(tree)
    assert answer.proceeds and answer.lines == () and rows(answer) == ()
    assert value(answer, "tree.commit") == git(tree.root, "rev-parse", "HEAD").strip()
    assert value(answer, "tree.files_examined") == 4
    assert value(answer, "tree.gate") == "refuse"


def _edit(root: Path) -> None:
    (root / "helper.py").write_text("K = 2\n")


def _stage(root: Path) -> None:
    _edit(root)
    git(root, "add", "helper.py")


def _hide(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "helper.py")
    _edit(root)


def _untracked(root: Path) -> None:
    (root / "train.py").write_text("import helper\nimport fresh\n")
    git(root, "commit", "-q", "-am", "imports it")
    (root / "fresh.py").write_text("")


def _ignored(root: Path) -> None:
    (root / "train.py").write_text("import helper\nimport secret_sauce\n")
    git(root, "commit", "-q", "-am", "imports it")
    (root / "secret_sauce.py").write_text("")


def _config(root: Path) -> None:
    (root / "sft.yaml").write_text("lr: 2\n")


TRAPS: tuple[tuple[Callable[[Path], None], tuple[str, str]], ...] = (
    (_edit, ("helper.py", "modified")),
    (_stage, ("helper.py", "modified")),
    (_hide, ("helper.py", "modified")),
    (_untracked, ("fresh.py", "not-in-commit")),
    (_ignored, ("secret_sauce.py", "not-in-commit")),
    (_config, ("sft.yaml", "modified")),
)


@pytest.mark.parametrize(("spoil", "row"), TRAPS, ids=lambda one: one.__name__ if callable(one) else "")
def test_code_that_runs_and_deviates_stops_the_command(
    tree: Project, spoil: Callable[[Path], None], row: tuple[str, str]
) -> None:
    spoil(tree.root)
    before = fingerprint(tree.root)
    answer = ask(tree)
    assert not answer.proceeds and rows(answer) == (row,)
    assert f"{row[0]} ({row[1]})" in answer.refusal and "--tree snapshot" in answer.refusal
    assert "Not affected:" in answer.refusal
    assert fingerprint(tree.root) == before


def _outputs(root: Path) -> None:
    (root / "outputs").mkdir()
    (root / "outputs" / "model.bin").write_bytes(b"0")


def _tracker(root: Path) -> None:
    (root / "wandb").mkdir()
    (root / "wandb" / "log.txt").write_text("")


def _bytecode(root: Path) -> None:
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "helper.pyc").write_bytes(b"0")


def _notebook(root: Path) -> None:
    (root / "nb.ipynb").write_text('{"cells": [{"cell_type": "code", "source": ["1"], "outputs": ["1"]}]}')


BENIGN: tuple[tuple[str, Callable[[Path], object]], ...] = (
    ("README.md", lambda root: (root / "README.md").write_text("y")),
    ("notes.md", lambda root: (root / "notes.md").write_text("y")),
    ("outputs", _outputs),
    ("wandb", _tracker),
    ("__pycache__", _bytecode),
    ("nb.ipynb", _notebook),
    ("test_it.py", lambda root: (root / "test_it.py").write_text("y = 1")),
    ("affidavit.lock", lambda root: (root / "affidavit.lock").write_text("# y")),
)


@pytest.mark.parametrize(("name", "spoil"), BENIGN, ids=[name for name, _ in BENIGN])
def test_what_is_dirty_and_does_not_run_is_one_line(tree: Project, name: str, spoil: Callable[[Path], object]) -> None:
    spoil(tree.root)
    answer = ask(tree)
    assert answer.proceeds and rows(answer) == ()
    (line,) = answer.lines
    assert line.startswith(name) and "not part of this run" in line


def test_a_snapshot_keeps_what_runs_and_touches_nothing_of_the_users(tree: Project) -> None:
    _edit(tree.root)
    (tree.root / "README.md").write_text("y")
    before = fingerprint(tree.root)
    answer = ask(tree, gate="snapshot", run="run-7")
    assert answer.proceeds and fingerprint(tree.root) == before
    gate = str(value(answer, "tree.gate")).split()
    assert gate[:2] == ["snapshot", "refs/affidavit/run-7"]
    assert git(tree.root, "show", f"{gate[2]}:helper.py") == "K = 2\n"
    assert git(tree.root, "rev-parse", "refs/affidavit/run-7").strip() == gate[2]
    assert any("refs/affidavit/run-7" in line for line in answer.lines)


def test_a_snapshot_of_a_clean_tree_keeps_nothing_and_vouches_for_nothing(tree: Project) -> None:
    answer = ask(tree, gate="snapshot")
    assert value(answer, "tree.gate") == "snapshot: nothing to keep"
    assert not git(tree.root, "for-each-ref", "refs/affidavit/")


def test_a_file_that_a_snapshot_may_not_hold_stops_the_command(tree: Project) -> None:
    (tree.root / "helper.py").write_text('K = "hf_' + "a" * 34 + '"\n')
    answer = ask(tree, gate="snapshot")
    assert not answer.proceeds and "helper.py (content holds a Hugging Face token)" in answer.refusal
    assert "aaaa" not in answer.refusal


def test_a_reason_lets_it_go_and_stands_on_the_record(tree: Project) -> None:
    _edit(tree.root)
    answer = ask(tree, gate="allow", reason="hotfix on the node")
    assert answer.proceeds and rows(answer) == (("helper.py", "modified"),)
    assert value(answer, "tree.gate") == "allow: hotfix on the node"


def test_git_that_refuses_lets_it_go_and_nobody_calls_it_clean(tree: Project) -> None:
    if os.geteuid() != 0:
        pytest.skip("mount needs root")  # only root can give a folder to somebody else
    os.chown(tree.root, 12345, 12345)
    try:
        answer = ask(tree)
    finally:
        os.chown(tree.root, 0, 0)
    assert answer.proceeds
    for name in ("tree.commit", "tree.deviations", "tree.bystanders"):
        state = states(answer)[name]
        assert isinstance(state, Unknown) and state.cause is Cause.GIT_REFUSED and "owned" in state.why
    assert any("owned by another user" in line for line in answer.lines)


def test_without_a_repository_it_goes_and_says_so(tree: Project) -> None:
    shutil.rmtree(tree.root / ".git")
    answer = ask(tree)
    assert answer.proceeds and value(answer, "tree.commit") == "no repository"
    state = states(answer)["tree.deviations"]
    assert isinstance(state, Unknown) and state.cause is Cause.NO_REPOSITORY
    assert any("no .git" in line for line in answer.lines)


def test_without_git_it_goes_and_says_so(tree: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    observed_git.executable.cache_clear()
    monkeypatch.setenv("PATH", str(tree.root))
    try:
        answer = ask(tree)
    finally:
        observed_git.executable.cache_clear()
    assert answer.proceeds
    state = states(answer)["tree.deviations"]
    assert isinstance(state, Unknown) and state.cause is Cause.GIT_REFUSED
    assert any("git" in line for line in answer.lines)


def test_a_command_whose_files_nobody_finds_examined_none(tree: Project) -> None:
    command = read_command(("true",), cwd=tree.root, environment=tree.environment)
    answer = examine_tree(command, project=tree.root, environment={}, gate="refuse")
    assert answer.proceeds and value(answer, "tree.files_examined") == 0


def test_a_module_that_is_no_python_is_not_called_clean(tree: Project) -> None:
    (tree.root / "helper.py").write_text("import (\n")
    git(tree.root, "commit", "-q", "-am", "broken")
    state = states(ask(tree))["tree.deviations"]
    assert isinstance(state, Unknown) and "helper.py could not be read" in state.why


def test_the_run_folder_does_not_dirty_the_tree(tree: Project) -> None:
    before = fingerprint(tree.root)
    assert tree.run(sys.executable, "-c", "pass") == 0
    shutil.rmtree(tree.root / ".affidavit" / "nothing", ignore_errors=True)
    after = {name: digest for name, digest in fingerprint(tree.root).items() if not name.startswith(".affidavit/")}
    assert after == before
