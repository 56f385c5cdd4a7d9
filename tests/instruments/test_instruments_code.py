"""Where HEAD stands is read without git, in every shape that a work tree has; what only git can tell stays unsaid."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from affidavit.instruments.code import _heads, _installed


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "r"
    (top / "pack").mkdir(parents=True)
    (top / "pack/a.py").write_text("")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    return top


def as_git_says(top: Path) -> list[tuple[str, str]]:
    return [(str(top), git(top, "rev-parse", "HEAD"))]


def test_a_branch(repository: Path) -> None:
    assert _heads([f"{repository}/pack/a.py", f"{repository}/b.py"]) == as_git_says(repository)


def test_a_branch_whose_ref_is_packed(repository: Path) -> None:
    git(repository, "pack-refs", "--all")
    assert not (repository / ".git/refs/heads/main").exists()
    assert _heads([f"{repository}/pack/a.py"]) == as_git_says(repository)


def test_no_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert _heads([f"{repository}/pack/a.py"]) == as_git_says(repository)


def test_a_second_work_tree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    (tmp_path / "second/pack/a.py").write_text("2")
    git(tmp_path / "second", "commit", "-q", "-a", "-m", "two")
    assert _heads([f"{tmp_path}/second/pack/a.py"]) == as_git_says(tmp_path / "second")
    assert as_git_says(tmp_path / "second")[0][1] != as_git_says(repository)[0][1]


def test_a_submodule_has_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "submodule", "--quiet", "add", str(repository), "sub")
    git(outer, "commit", "-q", "-m", "sub")
    found = _heads([f"{outer}/sub/pack/a.py", f"{outer}/train.py"])
    assert found == [*as_git_says(outer / "sub"), *as_git_says(outer)]


def test_a_file_that_is_reached_through_a_link(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert _heads([f"{tmp_path}/link/pack/a.py"]) == as_git_says(repository)


def test_where_only_git_could_tell_nothing_is_said(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert _heads([f"{tmp_path}/a.py"]) == []  # nothing is committed yet
    (tmp_path / ".git/HEAD").write_bytes(b"\xff\xfe")
    assert _heads([f"{tmp_path}/a.py"]) == []
    if os.geteuid() != 0:
        (tmp_path / ".git").chmod(0)
        assert _heads([f"{tmp_path}/a.py"]) == []


def test_an_installed_file_is_listed_with_its_size_and_time(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("1234")
    lines = [json.loads(said) for said in _installed([f"{tmp_path}/x.py", f"{tmp_path}/gone.py", "nul\0.py"])]
    time = (tmp_path / "x.py").stat().st_mtime_ns
    assert [said["seen"] for said in lines] == [f"4 {time}", "", ""]
    assert {said["kind"] for said in lines} == {"installed"}
