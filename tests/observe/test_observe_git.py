"""One door to git: an answer or an exception."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from git_world import World

from affidavit.observe import error, git, repository


def test_an_answer_is_bytes_and_nothing_else() -> None:
    assert git.Answer(stdout=b"a\0b\0").records == ("a", "b")
    assert git.Answer(stdout=b"").records == ()


def test_a_non_zero_code_is_never_an_answer(world: World) -> None:
    with pytest.raises(error.GitRefusedError, match=r"git\.answer: expected an answer to 'cat-file blob 0+'"):
        git.ask(world.top, "cat-file", "blob", "0" * 40)


def test_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(error.NotARepositoryError, match="saw none at"):
        git.ask(tmp_path, "rev-parse", "HEAD")
    with pytest.raises(error.NotARepositoryError, match=r"saw no \.git at or above"):
        repository.read(tmp_path)


def test_a_filter_that_hangs_is_ended_with_git(world: World) -> None:
    world.git("config", "filter.z.clean", "sleep 60")
    (world.top / ".git/info/attributes").write_text("mod.py filter=z\n")
    started = time.monotonic()
    with pytest.raises(error.GitRefusedError, match=r"no answer in 0\.5 s"):
        git.ask(world.top, "hash-object", "--stdin-paths", stdin=b"mod.py\n", limit_seconds=0.5)
    assert time.monotonic() - started < 10


def test_inherited_git_state_is_dropped_and_the_users_configuration_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.setenv(name, "x")
    seen = git.environment()
    assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"} & set(seen)
    assert seen["GIT_CONFIG_GLOBAL"] == os.devnull
    assert (seen["LC_ALL"], seen["GIT_OPTIONAL_LOCKS"]) == ("C", "0")


def test_a_hostile_configuration_runs_nothing(world: World, tmp_path: Path) -> None:
    """A repository that someone handed over may name programs; reading it starts none of them."""
    proof = tmp_path / "ran"
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand"):
        world.git("config", key, f"touch {proof}; false")
    hook = world.top / ".git/hooks/post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {proof}\n")
    hook.chmod(0o755)
    proof.unlink(missing_ok=True)
    repository.read(world.top)
    assert not proof.exists()


def test_a_work_tree_that_points_elsewhere_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    world.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(error.GitRefusedError, match=r"git\.top"):
        repository.read(world.top)


def test_an_empty_git_folder_belongs_to_the_repository_around_it(world: World) -> None:
    world.write("pkg/a.py", "1")
    (world.top / "pkg/.git").mkdir()
    assert repository.find_top(world.top / "pkg") == world.top


def test_every_status_letter_is_read(nested: World) -> None:
    nested.write("edited.py", "1")
    nested.write("gone.py", "1")
    nested.commit()
    nested.write("edited.py", "2")
    (nested.top / "gone.py").unlink()
    nested.write("staged.py", "1")
    nested.git("add", "staged.py")
    nested.write("new folder/x", "1")
    nested.write("sub/sm.py", "K=2\n")
    found = repository.read(nested.top)
    assert found.status is not None
    assert {line.path: line.code for line in found.status} == {
        "edited.py": " M",
        "gone.py": " D",
        "staged.py": "A ",
        "new folder/": "??",
        "sub": " M",
    }
    assert [module.path for module in found.submodules] == ["sub"]
    assert repository.recorded_commit(nested.top / "sub") == found.submodules[0].commit


def test_conflicts_are_read(world: World) -> None:
    world.git("checkout", "-qb", "other")
    world.write("mod.py", "K=2\n")
    world.commit()
    world.git("checkout", "-q", "main")
    world.write("mod.py", "K=3\n")
    world.commit()
    with pytest.raises(AssertionError):
        world.git("merge", "other")
    found = repository.read(world.top)
    assert [(line.path, line.code) for line in found.status or ()] == [("mod.py", "UU")]
