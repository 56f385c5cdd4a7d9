"""Owners and verdicts beyond the sixteen traps."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from git_world import World, interpreter, new_world

from affidavit.observe import FileVerdict, LoadedFile, OwnerKind, identify
from affidavit.observe import git as git_module
from affidavit.observe.interpreter import Interpreter


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def installed(site: Path, name: str, files: dict[str, str], *, record: bool = True) -> None:
    """A distribution as an installer leaves it."""
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    metadata = site / f"{name}-1.2.dist-info"
    metadata.mkdir()
    if record:
        (metadata / "RECORD").write_text("".join(f"{path},sha256=x,1\n" for path in files))


def environment(folder: Path) -> Interpreter:
    site = folder / "lib/python3.11/site-packages"
    site.mkdir(parents=True)
    return replace(interpreter(), prefix=folder, sites=(site,))


def test_a_file_of_the_standard_library() -> None:
    found = identify([LoadedFile(path=Path(os.__file__))], interpreter()).files[0]
    assert (found.verdict, found.owner.kind) == (FileVerdict.STDLIB, OwnerKind.STDLIB)


def test_a_file_of_a_distribution_names_it() -> None:
    found = identify([LoadedFile(path=Path(pytest.__file__))], interpreter()).files[0]
    assert found.verdict is FileVerdict.INSTALLED
    assert str(found.owner) == f"pytest {pytest.__version__}"


def test_a_virtual_environment_inside_the_repository_is_not_the_repository(world: World) -> None:
    python = environment(world.top / ".venv")
    installed(python.sites[0], "Some_Thing", {"some/x.py": "1", "../../../bin/some": "2"})
    code = identify([LoadedFile(path=python.sites[0] / "some/x.py"), LoadedFile(path=world.top / "mod.py")], python)
    assert [str(file.owner).partition("@")[0] for file in code.files] == ["some-thing 1.2", "r"]
    script = identify([LoadedFile(path=world.top / ".venv/bin/some")], python).files[0]
    assert script.owner.name == "some-thing"


def test_a_repository_inside_site_packages_is_judged_as_one(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    world = new_world(python.sites[0] / "cloned")
    world.write("mod.py", "K=2\n")
    assert identify([LoadedFile(path=world.top / "mod.py")], python).files[0].verdict is FileVerdict.MODIFIED


def test_a_file_that_nobody_installed_is_an_orphan_even_in_site_packages(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    installed(python.sites[0], "a", {"a/x.py": "1"})
    dropped = python.sites[0] / "a/dropped.py"
    dropped.write_text("1")
    assert identify([LoadedFile(path=dropped)], python).files[0].verdict is FileVerdict.ORPHAN


def test_a_distribution_without_record_is_found_by_its_top_level_name(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    installed(python.sites[0], "a_b", {"a_b/x.py": "1"}, record=False)
    assert identify([LoadedFile(path=python.sites[0] / "a_b/x.py")], python).files[0].owner.name == "a-b"


def test_an_installed_file_that_changed_since_it_was_loaded(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    installed(python.sites[0], "a", {"a/x.py": "new"})
    file = LoadedFile(path=python.sites[0] / "a/x.py", sha256=sha256("old"))
    assert identify([file], python).files[0].verdict is FileVerdict.CHANGED_SINCE


def test_an_edit_after_loading_does_not_accuse_the_run(world: World) -> None:
    world.write("mod.py", "K=3\n")
    found = world.one("mod.py", sha256("K=1\n"))
    assert found.verdict is FileVerdict.COMMITTED
    assert "changed afterwards" in found.detail


def test_an_edit_undone_after_loading_does_not_acquit_the_run(world: World) -> None:
    assert world.one("mod.py", sha256("K=2\n")).verdict is FileVerdict.CHANGED_SINCE


def test_a_file_deleted_after_loading(world: World) -> None:
    (world.top / "mod.py").unlink()
    assert world.one("mod.py", sha256("K=1\n")).verdict is FileVerdict.COMMITTED
    assert world.one("mod.py", sha256("K=2\n")).verdict is FileVerdict.CHANGED_SINCE
    assert world.one("mod.py").verdict is FileVerdict.UNREADABLE


def test_a_pipe_is_unreadable_and_does_not_hang(world: World) -> None:
    os.mkfifo(world.top / "pipe.json")
    assert world.one("pipe.json").verdict is FileVerdict.UNREADABLE


def test_head_may_move_during_the_run(world: World) -> None:
    launched = world.git("rev-parse", "HEAD").strip()
    world.write("mod.py", "K=2\n")
    world.commit()
    files = [LoadedFile(path=world.top / "mod.py")]
    pinned = identify(files, interpreter(), commits={world.top: launched})
    assert pinned.files[0].verdict is FileVerdict.MODIFIED
    assert pinned.files[0].owner.version == launched
    assert world.one("mod.py").verdict is FileVerdict.COMMITTED


def test_a_commit_that_is_not_there_is_a_refusal(world: World) -> None:
    code = identify([LoadedFile(path=world.top / "mod.py")], interpreter(), commits={world.top: "1" * 40})
    assert code.files[0].verdict is FileVerdict.GIT_REFUSED


def test_an_unborn_head_describes_nothing(tmp_path: Path, world: World) -> None:
    world.git("init", "-q", str(tmp_path / "new"))
    new = World(top=tmp_path / "new")
    new.write("a.py", "1")
    found = new.one("a.py")
    assert (found.verdict, found.detail) == (FileVerdict.NOT_IN_COMMIT, "nothing is committed yet")


def test_a_damaged_head_is_not_an_unborn_one(world: World) -> None:
    for part in ("objects", "refs"):
        for path in (world.top / ".git" / part).rglob("*"):
            if path.is_file() and part == "objects":
                path.chmod(0o600)
                path.write_bytes(b"")
    assert world.one("mod.py").verdict is FileVerdict.GIT_REFUSED


def test_a_sha256_repository(tmp_path: Path) -> None:
    world = new_world(tmp_path / "r256", object_format="sha256")
    assert world.one("mod.py").verdict is FileVerdict.COMMITTED
    world.write("mod.py", "K=2\n")
    assert world.one("mod.py").verdict is FileVerdict.MODIFIED


def test_a_linked_work_tree(world: World) -> None:
    world.git("worktree", "add", "-q", "../tree")
    assert World(top=world.top.parent / "tree").one("mod.py").verdict is FileVerdict.COMMITTED


def test_names_that_need_quoting(world: World) -> None:
    names = ["ü.py", 'a"b.py', "a b.py", "-x.py", ":x.py", "*.py"]
    for name in names:
        world.write(name, "1")
    world.commit()
    assert {file.verdict for file in world.identify(*names).files} == {FileVerdict.COMMITTED}
    for name in names:
        world.write(name, "2")
    assert {file.verdict for file in world.identify(*names).files} == {FileVerdict.MODIFIED}


def test_a_retargeted_symbolic_link(world: World) -> None:
    world.write("a.py", "1")
    world.write("b.py", "2")
    (world.top / "link.py").symlink_to("a.py")
    world.commit()
    assert world.one("link.py").verdict is FileVerdict.COMMITTED
    (world.top / "link.py").unlink()
    (world.top / "link.py").symlink_to("b.py")
    assert world.one("link.py").verdict is FileVerdict.MODIFIED


def test_a_project_linked_into_a_home_folder_under_git_is_not_accused(world: World, tmp_path: Path) -> None:
    home = new_world(tmp_path / "home")
    (home.top / "project").symlink_to(world.top)
    assert home.one("project/mod.py").verdict is FileVerdict.COMMITTED


def test_a_git_lfs_pointer_names_the_content(world: World) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256('big')}\nsize 3\n"
    world.write("data.json", pointer)
    world.commit()
    world.write("data.json", "big")
    assert world.one("data.json").verdict is FileVerdict.COMMITTED
    world.write("data.json", "bog")
    assert world.one("data.json").verdict is FileVerdict.MODIFIED


def test_what_a_checkout_writes_is_only_a_filter(world: World) -> None:
    world.write(".gitattributes", "id.py ident\n")
    world.write("id.py", "# $Id$\n")
    world.commit()
    (world.top / "id.py").unlink()
    world.git("checkout", "--", "id.py")
    found = world.one("id.py")
    assert found.verdict is FileVerdict.FILTER_ONLY
    assert "ident" in found.detail


def test_a_filter_that_fails_takes_no_other_verdict_away(world: World) -> None:
    world.write("other.py", "1")
    world.commit()
    world.git("config", "filter.z.clean", "false")
    world.git("config", "filter.z.required", "true")
    (world.top / ".git/info/attributes").write_text("mod.py filter=z\n")
    world.write("mod.py", "K=2\n")
    world.write("other.py", "2")
    found = world.identify("mod.py", "other.py").files
    assert [file.verdict for file in found] == [FileVerdict.GIT_REFUSED, FileVerdict.MODIFIED]


def test_no_git_program(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    git_module.executable.cache_clear()
    try:
        code = world.identify("mod.py")
    finally:
        git_module.executable.cache_clear()
    assert code.files[0].verdict is FileVerdict.GIT_REFUSED
    assert code.refusals[0].is_git_missing


def test_nothing_is_written_by_looking(world: World) -> None:
    world.write("mod.py", "K=2\n")
    before = {p: p.read_bytes() for p in world.top.rglob("*") if p.is_file()}
    world.identify("mod.py", "main.py")
    assert {p: p.read_bytes() for p in world.top.rglob("*") if p.is_file()} == before
