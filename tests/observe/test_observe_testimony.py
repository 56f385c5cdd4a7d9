"""What a repository remembers of seals, and that it remembers it without touching anything of its user's."""

from __future__ import annotations

import hashlib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from affidavit.observe import testimony
from affidavit.observe.error import GitRefusedError, NotARepositoryError
from affidavit.observe.testimony import TestimonyError

AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *AUTHOR, *words], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in the middle of its user's work: staged, stashed, edited, untracked."""
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "--quiet", "-b", "main")
    for name in ("a", "b"):
        (place / name).write_text(name)
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "one")
    (place / "a").write_text("stashed")
    git(place, "stash")
    (place / "a").write_text("staged")
    git(place, "add", "a")
    (place / "b").write_text("edited")
    (place / "c").write_text("untracked")
    return place


def state(root: Path) -> dict[str, str]:
    """Return every file that git or its user can see, but objects and our own refs."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not name.startswith((".git/objects/", ".git/refs/affidavit/")):
            found[name] = f"{path.stat().st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found


def test_what_was_said_is_remembered_in_order(root: Path) -> None:
    for entry in (b'{"count":0}', b'{"count":1}', b'{"count":2}'):
        testimony.remember(root, "run-1", entry)
    assert testimony.recall(root, "run-1") == (b'{"count":0}', b'{"count":1}', b'{"count":2}')
    assert testimony.recall(root, "run-2") == ()


def test_the_same_is_not_said_twice(root: Path) -> None:
    for _ in range(3):
        testimony.remember(root, "run-1", b"{}")
    assert testimony.recall(root, "run-1") == (b"{}",)


def test_nothing_of_the_users_is_touched(root: Path) -> None:
    seen = git(root, "status", "--porcelain=v2", "--branch", "--show-stash")
    before = state(root)
    for entry in (b"one", b"two"):
        testimony.remember(root, "run-1", entry)
    testimony.recall(root, "run-1")
    assert state(root) == before
    assert git(root, "status", "--porcelain=v2", "--branch", "--show-stash") == seen
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_a_collection_of_garbage_keeps_it(root: Path) -> None:
    testimony.remember(root, "run-1", b"{}")
    git(root, "gc", "--quiet", "--prune=now")
    assert testimony.recall(root, "run-1") == (b"{}",)
    testimony.remember(root, "run-1", b"[]")
    assert testimony.recall(root, "run-1") == (b"{}", b"[]")


def test_a_repository_without_a_commit_remembers_too(tmp_path: Path) -> None:
    for kind in ("sha1", "sha256"):
        git(tmp_path, "init", "--quiet", f"--object-format={kind}", kind)
        testimony.remember(tmp_path / kind, "run-1", b"{}")
        assert testimony.recall(tmp_path / kind, "run-1") == (b"{}",)


def test_speakers_at_the_same_time_are_all_heard(root: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: testimony.remember(root, "run-1", b"%d" % number), range(3)))
    assert sorted(testimony.recall(root, "run-1")) == [b"0", b"1", b"2"]


@pytest.mark.parametrize("run", ["", "..", "../heads/main", "a..b", "a/b", "-x", "a.lock", "a b", "x" * 300, "é"])
def test_a_run_that_has_no_plain_name_moves_no_ref(root: Path, run: str) -> None:
    before = git(root, "for-each-ref")
    for ask in (lambda: testimony.remember(root, run, b"{}"), lambda: testimony.recall(root, run)):
        with pytest.raises(TestimonyError, match="a plain name of a run"):
            ask()
    assert git(root, "for-each-ref") == before


def test_a_ref_that_points_at_a_branch_does_not_move_the_branch(root: Path) -> None:
    head = git(root, "rev-parse", "main")
    git(root, "symbolic-ref", f"{testimony.PLACE}/run-1", "refs/heads/main")
    testimony.remember(root, "run-1", b"{}")
    assert git(root, "rev-parse", "main") == head


def test_no_repository_and_no_right_to_write_are_told(root: Path, tmp_path: Path) -> None:
    with pytest.raises(NotARepositoryError):
        testimony.recall(tmp_path, "run-1")
    (root / ".git" / "refs" / "affidavit").mkdir()
    (root / ".git" / "refs" / "affidavit" / "seals").write_text("a file where a folder should be")
    with pytest.raises(GitRefusedError):
        testimony.remember(root, "run-1", b"{}")


def test_a_ref_that_is_no_commit_is_told(root: Path) -> None:
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=root, input=b"x", check=True, capture_output=True
    ).stdout.decode()
    git(root, "update-ref", f"{testimony.PLACE}/run-1", blob.strip())
    with pytest.raises(TestimonyError, match="a commit under"):
        testimony.recall(root, "run-1")
