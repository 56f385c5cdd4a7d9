"""A container has no ``.git``: what a stamp says in its place, and that a stamp that was touched says nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from git_world import World, interpreter
from installing import pip, wheel

from affidavit.observe import git as git_module
from affidavit.observe import stamp
from affidavit.observe.code import identify
from affidavit.observe.error import ObserveError, StampError
from affidavit.observe.identity import FileIdentity, LoadedFile
from affidavit.observe.owner import OwnerKind
from affidavit.observe.stamping import make
from affidavit.observe.tree import TreeReport, TreeState, examine
from affidavit.observe.verdict import FileVerdict


def image(world: World, folder: Path) -> Path:
    """Stamp a work tree, and copy it as a build does: everything but the repository."""
    (world.top / stamp.NAME).write_bytes(stamp.encode(make(world.top)))
    shutil.copytree(world.top, folder, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    return folder


def one(path: Path, sha256: str | None = None) -> FileIdentity:
    return identify([LoadedFile(path=path, sha256=sha256)], interpreter()).files[0]


def report(app: Path, *names: str) -> TreeReport:
    code = identify([LoadedFile(path=app / name) for name in names], interpreter())
    return examine(code, app)


def test_without_a_stamp_nobody_knows_and_with_it_the_code_is_described(world: World, tmp_path: Path) -> None:
    commit = world.git("rev-parse", "HEAD").strip()
    app = image(world, tmp_path / "app")
    found = one(app / "mod.py")
    assert (found.verdict, found.owner.kind, str(found.owner)) == (
        FileVerdict.STAMPED,
        OwnerKind.STAMP,
        f"r@{commit}:mod.py (stamp)",
    )
    seen = report(app, "main.py", "mod.py")
    assert seen.state is TreeState.STAMPED and seen.is_described and seen.stamp is not None
    assert seen.stamp.commit == commit
    (app / stamp.NAME).unlink()
    assert one(app / "mod.py").verdict is FileVerdict.ORPHAN
    assert report(app, "mod.py").state is TreeState.NO_REPOSITORY


def test_a_file_that_was_edited_in_the_image_differs(world: World, tmp_path: Path) -> None:
    app = image(world, tmp_path / "app")
    loaded = hashlib.sha256((app / "mod.py").read_bytes()).hexdigest()
    (app / "mod.py").write_text("K=2\n")
    assert one(app / "mod.py").verdict is FileVerdict.DIFFERS_FROM_STAMP
    assert one(app / "mod.py", sha256=loaded).verdict is FileVerdict.STAMPED
    (site,) = report(app, "main.py", "mod.py").sites
    assert site.real == app / "mod.py"


@pytest.mark.parametrize("name", ["ign.py", "written_later.py"])
def test_a_file_that_the_stamp_does_not_list_is_told(world: World, tmp_path: Path, name: str) -> None:
    world.write("ign.py", "K=3\n")
    app = image(world, tmp_path / "app")
    (app / "written_later.py").write_text("")
    assert one(app / name).verdict is FileVerdict.NOT_IN_STAMP


def test_a_dirty_tree_stays_dirty(world: World, tmp_path: Path) -> None:
    world.write("mod.py", "K=2\n")
    world.write("new.py", "K=3\n")
    world.write("notes.md", "no code\n")
    made = make(world.top)
    assert made.dirty == ("mod.py", "new.py")
    assert stamp.rows(made) == [("mod.py", "modified"), ("new.py", "not-in-commit")]
    app = image(world, tmp_path / "app")
    assert [one(app / name).verdict for name in ("main.py", "mod.py", "new.py")] == [
        FileVerdict.STAMPED,
        FileVerdict.MODIFIED,
        FileVerdict.NOT_IN_COMMIT,
    ]
    assert "when the stamp was made" in one(app / "mod.py").detail


def test_only_line_endings_are_no_dirt(world: World, tmp_path: Path) -> None:
    world.git("config", "core.autocrlf", "true")
    world.write("mod.py", "K=1\r\n")
    world.git("add", "mod.py")
    app = image(world, tmp_path / "app")
    assert one(app / "mod.py").verdict is FileVerdict.STAMPED


def test_a_part_of_a_project_is_stamped_where_it_lies(world: World, tmp_path: Path) -> None:
    """``COPY src /app``: the paths of the stamp are those below it."""
    world.write("src/pack/a.py", "A=1\n")
    world.commit()
    (world.top / "src" / stamp.NAME).write_bytes(stamp.encode(make(world.top / "src")))
    shutil.copytree(world.top / "src", tmp_path / "app")
    assert sorted(make(world.top / "src").files) == ["pack/a.py"]
    assert one(tmp_path / "app/pack/a.py").verdict is FileVerdict.STAMPED


def test_submodules_are_in_it(nested: World, tmp_path: Path) -> None:
    app = image(nested, tmp_path / "app")
    assert one(app / "sub/sm.py").verdict is FileVerdict.STAMPED


def test_a_submodule_at_another_commit_is_dirty(nested: World, tmp_path: Path) -> None:
    (nested.top / "sub/sm.py").write_text("K=2\n")
    nested.commit(folder=nested.top / "sub")
    assert stamp.rows(make(nested.top)) == [("sub/sm.py", "modified")]


def test_what_a_build_makes_or_installs_beside_it_is_nobodys_fault(world: World, tmp_path: Path) -> None:
    app = image(world, tmp_path / "app")
    (app / "_version.py").write_text("__version__ = '1.0'\n")
    pip("--target", str(app / "libs"), str(wheel(tmp_path, "alib", {"alib/x.py": "1\n"})))
    assert one(app / "_version.py").verdict is FileVerdict.GENERATED
    assert one(app / "libs/alib/x.py").verdict is FileVerdict.INSTALLED


def test_a_repository_is_asked_before_a_stamp(world: World, tmp_path: Path) -> None:
    """A stamp that was committed, or left from a build, has no say where git answers."""
    (world.top / stamp.NAME).write_bytes(stamp.encode(make(world.top)))
    world.write("mod.py", "K=2\n")
    world.commit()
    found = one(world.top / "mod.py")
    assert (found.verdict, found.owner.kind) == (FileVerdict.COMMITTED, OwnerKind.REPOSITORY)
    assert report(world.top, "mod.py").stamp is None


def test_where_the_image_has_a_repository_and_no_git_the_stamp_answers(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = image(world, tmp_path / "app")
    shutil.copytree(world.top / ".git", app / ".git")
    monkeypatch.setenv("PATH", "/nowhere")
    git_module.executable.cache_clear()
    try:
        code = identify([LoadedFile(path=app / "mod.py")], interpreter())
        seen = examine(code, app)
    finally:
        git_module.executable.cache_clear()
    assert [file.verdict for file in code.files] == [FileVerdict.STAMPED]
    assert (code.refusals, seen.state) == ((), TreeState.STAMPED)


def test_a_stamp_reads_back_as_it_was_made(world: World) -> None:
    for name in ("ü.py", 'a"b.py', "a\udcffb.py"):
        (world.top / name).write_text("1\n")
    world.write("a b.yaml", "b: 1\n")
    world.commit()
    made = make(world.top)
    (world.top / stamp.NAME).write_bytes(stamp.encode(made))
    assert stamp.read(world.top / stamp.NAME) == made
    assert {"ü.py", 'a"b.py', "a b.yaml", "mod.py", ".gitignore"} <= set(made.files)
    assert stamp.encode(make(world.top)) == stamp.encode(made), "the same tree, the same bytes"


def _said(raw: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(raw), **changes}).encode()


def _without(raw: bytes, key: str) -> bytes:
    return json.dumps({name: value for name, value in json.loads(raw).items() if name != key}).encode()


TOUCHED: dict[str, Callable[[bytes], bytes]] = {
    "a digest": lambda raw: raw.replace(hashlib.sha256(b"import mod\n").hexdigest().encode(), b"0" * 64),
    "a verdict": lambda raw: raw.replace(b"modified", b"committed"),
    "the commit": lambda raw: _said(raw, commit="1" * 40),
    "a file taken out": lambda raw: _said(raw, files=[]),
    "cut off": lambda raw: raw[: len(raw) // 2],
    "empty": lambda raw: b"",
    "a doubled key": lambda raw: raw.replace(b'"format": 1', b'"format": 1,\n"format": 1'),
    "another layout": lambda raw: json.dumps(json.loads(raw)).encode(),
    "no seal": lambda raw: _without(raw, "seal"),
    "one key more": lambda raw: _said(raw, note="trust me"),
    "an unknown verdict": lambda raw: _said(raw, files=[["mod.py", "0" * 64, "fine"]]),
    "a row of another shape": lambda raw: _said(raw, files=[["mod.py"]]),
    "a list": lambda raw: b"[]\n",
    "a newer format": lambda raw: _said(raw, format=2),
    "an older format": lambda raw: _said(raw, format=0),
    "a format that is no number": lambda raw: _said(raw, format="1"),
    "no UTF-8": lambda raw: raw + b"\xff",
    "nested": lambda raw: b"[" * 100_000,
}


@pytest.mark.parametrize("what", TOUCHED)
def test_a_stamp_that_was_touched_is_refused_and_its_files_are_not_clean(
    world: World, tmp_path: Path, what: str
) -> None:
    world.write("mod.py", "K=2\n")
    app = image(world, tmp_path / "app")
    raw = (app / stamp.NAME).read_bytes()
    touched = TOUCHED[what](raw)
    assert touched != raw
    (app / stamp.NAME).write_bytes(touched)
    with pytest.raises(StampError) as raised:
        stamp.read(app / stamp.NAME)
    first, second, third = str(raised.value).splitlines()
    assert first.startswith(f"stamp {app / stamp.NAME}: expected ") and ", saw " in first
    assert 'Run "affidavit stamp"' in second and third.startswith("Not affected: ")
    if what == "a newer format":
        assert "newer" in first
    code = identify([LoadedFile(path=app / "mod.py")], interpreter())
    assert code.files[0].verdict is FileVerdict.STAMP_REFUSED
    assert [refused.is_stamp for refused in code.refusals] == [True]
    seen = examine(code, app)
    assert seen.state is TreeState.STAMP_REFUSED and not seen.is_described


def test_a_stamp_without_its_seal_being_asked_would_be_believed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bend: the strict reading is what sees the edit."""
    world.write("mod.py", "K=2\n")
    app = image(world, tmp_path / "app")
    raw = (app / stamp.NAME).read_bytes()
    (app / stamp.NAME).write_bytes(raw.replace(b"modified", b"committed"))
    said = json.loads((app / stamp.NAME).read_bytes())["seal"]
    monkeypatch.setattr(stamp, "_seal", lambda _: said)
    assert one(app / "mod.py").verdict is FileVerdict.STAMPED


def test_there_is_nothing_to_stamp(tmp_path: Path, world: World) -> None:
    for folder in (tmp_path / "bare", tmp_path / "unborn"):
        folder.mkdir()
    world.git("init", "-q", folder=tmp_path / "unborn")
    for folder in (tmp_path / "bare", tmp_path / "unborn"):
        with pytest.raises(StampError, match="expected a folder of a repository with a commit"):
            make(folder)


def test_a_repository_that_refuses_is_not_stamped(nested: World) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder away")
    for path in (nested.top / "sub", nested.top / "sub/.git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(ObserveError, match=r"safe\.directory"):
        make(nested.top)


def test_nothing_is_written_by_making(world: World) -> None:
    before = {path: path.read_bytes() for path in world.top.rglob("*") if path.is_file()}
    make(world.top)
    assert {path: path.read_bytes() for path in world.top.rglob("*") if path.is_file()} == before
