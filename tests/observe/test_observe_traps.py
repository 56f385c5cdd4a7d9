"""Sixteen ways in which the imported file differs from the commit; most of them look clean to git."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from git_world import World

from affidavit.observe.code import FileVerdict

EDIT = "K=2\n"


@dataclass(frozen=True, kw_only=True)
class Trap:
    """What is done to a clean world, which file is imported, what must be said about it."""

    do: Callable[[World], str]
    verdict: FileVerdict
    git_says: str | None


TRAPS: dict[str, Trap] = {}


def trap(verdict: FileVerdict, git_says: str | None) -> Callable[[Callable[[World], str]], Callable[[World], str]]:
    def register(do: Callable[[World], str]) -> Callable[[World], str]:
        TRAPS[do.__name__] = Trap(do=do, verdict=verdict, git_says=git_says)
        return do

    return register


@trap(FileVerdict.MODIFIED, " M")
def unstaged_edit(world: World) -> str:
    world.write("mod.py", EDIT)
    return "mod.py"


@trap(FileVerdict.MODIFIED, "M ")
def staged_edit(world: World) -> str:
    world.write("mod.py", EDIT)
    world.git("add", "mod.py")
    return "mod.py"


@trap(FileVerdict.NOT_IN_COMMIT, "??")
def untracked_module(world: World) -> str:
    world.write("un.py", EDIT)
    return "un.py"


@trap(FileVerdict.NOT_IN_COMMIT, "")
def ignored_module(world: World) -> str:
    world.write("ign.py", EDIT)
    return "ign.py"


@trap(FileVerdict.NOT_IN_COMMIT, "")
def info_exclude(world: World) -> str:
    world.write("un.py", EDIT)
    with (world.top / ".git/info/exclude").open("a") as exclude:
        exclude.write("un.py\n")
    return "un.py"


@trap(FileVerdict.NOT_IN_COMMIT, "??")
def show_untracked_files_no(world: World) -> str:
    world.write("un.py", EDIT)
    world.git("config", "status.showUntrackedFiles", "no")
    return "un.py"


@trap(FileVerdict.MODIFIED, "")
def assume_unchanged(world: World) -> str:
    world.git("update-index", "--assume-unchanged", "mod.py")
    world.write("mod.py", EDIT)
    return "mod.py"


@trap(FileVerdict.MODIFIED, "")
def skip_worktree(world: World) -> str:
    world.git("update-index", "--skip-worktree", "mod.py")
    world.write("mod.py", EDIT)
    return "mod.py"


@trap(FileVerdict.MODIFIED, "")
def same_size_same_mtime(world: World) -> str:
    path = world.top / "mod.py"
    world.git("config", "core.checkStat", "minimal")
    world.git("config", "core.trustctime", "false")
    world.git("update-index", "--refresh")
    before = path.stat()
    with path.open("r+") as stream:
        stream.write(EDIT)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return "mod.py"


@trap(FileVerdict.MODIFIED, " M")
def dirty_submodule(world: World) -> str:
    world.write("sub/sm.py", EDIT)
    return "sub/sm.py"


@trap(FileVerdict.MODIFIED, " M")
def dirty_submodule_ignored(world: World) -> str:
    world.write("sub/sm.py", EDIT)
    world.git("config", "diff.ignoreSubmodules", "all")
    return "sub/sm.py"


@trap(FileVerdict.NOT_IN_COMMIT, "??")
def untracked_in_submodule(world: World) -> str:
    world.write("sub/un.py", EDIT)
    return "sub/un.py"


@trap(FileVerdict.MODIFIED, " M")
def ignored_nested_repository(world: World) -> str:
    world.write("ext/e.py", "K=1\n")
    world.git("init", "-q", folder=world.top / "ext")
    world.commit(folder=world.top / "ext")
    world.write("ext/e.py", EDIT)
    with (world.top / ".git/info/exclude").open("a") as exclude:
        exclude.write("ext/\n")
    return "ext/e.py"


@trap(FileVerdict.FILTER_ONLY, "")
def line_endings_under_autocrlf(world: World) -> str:
    world.git("config", "core.autocrlf", "true")
    world.write("mod.py", "K=1\r\n")
    world.git("add", "mod.py")
    return "mod.py"


@trap(FileVerdict.FILTER_HIDES, "")
def clean_filter_hides_the_edit(world: World) -> str:
    world.git("config", "filter.z.clean", "sed s/K=2/K=1/")
    (world.top / ".git/info/attributes").write_text("mod.py filter=z\n")
    world.write("mod.py", EDIT)
    world.git("update-index", "--refresh")
    return "mod.py"


@trap(FileVerdict.GIT_REFUSED, None)
def repository_of_another_user(world: World) -> str:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder away")
    world.write("mod.py", EDIT)
    for path in (world.top, world.top / ".git"):
        os.chown(path, 12345, 12345)
    return "mod.py"


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_never_called_clean(nested: World, name: str) -> None:
    nested.age()
    imported = TRAPS[name].do(nested)

    found = nested.one(imported)

    assert found.verdict is TRAPS[name].verdict
    assert found.witness == TRAPS[name].git_says


def test_all_sixteen_traps_are_here() -> None:
    assert len(TRAPS) == 16


def test_the_clean_twin_is_committed(nested: World) -> None:
    nested.age()
    found = nested.identify("main.py", "mod.py", "sub/sm.py")

    assert [file.verdict for file in found.files] == [FileVerdict.COMMITTED] * 3
    assert [file.witness for file in found.files] == [""] * 3
    assert len(found.repositories) == 2
    assert not found.refusals


def test_the_flags_and_settings_that_hide_changes_are_on_the_record(world: World) -> None:
    world.git("update-index", "--assume-unchanged", "mod.py")
    world.git("update-index", "--skip-worktree", "main.py")
    world.git("config", "status.showUntrackedFiles", "no")

    (repository,) = world.identify("mod.py").repositories

    assert {(flag.path, flag.flag) for flag in repository.flags} == {
        ("mod.py", "assume-unchanged"),
        ("main.py", "skip-worktree"),
    }
    assert ("status.showuntrackedfiles", "no") in {(s.key, s.value) for s in repository.settings}


def test_a_line_ending_filter_is_named(nested: World) -> None:
    nested.age()
    assert "core.autocrlf=true" in nested.one(line_endings_under_autocrlf(nested)).detail


def test_a_hiding_filter_is_named(nested: World) -> None:
    nested.age()
    assert "filter=z" in nested.one(clean_filter_hides_the_edit(nested)).detail


def test_the_refusal_says_what_to_do(world: World) -> None:
    repository_of_another_user(world)
    found = world.identify("mod.py")

    assert "safe.directory" in found.files[0].detail
    assert f"--add safe.directory {world.top}" in found.refusals[0].why
    assert not found.repositories
