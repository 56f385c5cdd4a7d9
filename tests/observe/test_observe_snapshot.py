"""A snapshot holds what ran and touches nothing of the user's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from git_world import World, new_world, with_submodule

from affidavit.observe import Snapshot, take
from affidavit.observe import snapshot as snapshot_module
from affidavit.observe.error import GitRefusedError, SnapshotError
from affidavit.observe.repository import read
from affidavit.observe.secret import secret_in_content, secret_in_name
from affidavit.observe.snapshot import SnapshotLimits

FAKE_TOKEN = "hf_" + "a" * 34


def state(world: World) -> dict[str, object]:
    """Everything a user would miss: index, HEAD, branches, stash, configuration, work tree, its time stamps."""
    git = world.top / ".git"
    kept = {
        name: (git / name).read_bytes() for name in ("index", "HEAD", "config", "logs/HEAD") if (git / name).exists()
    }
    tree = {
        path.relative_to(world.top).as_posix(): (path.lstat().st_mtime_ns, path.read_bytes())
        for path in world.top.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    refs = world.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash")
    return {"files": kept, "tree": tree, "refs": refs, "stash": world.git("stash", "list")}


def shot(world: World, *paths: str, run: str = "run-1", limits: SnapshotLimits | None = None) -> Snapshot:
    return take(read(world.top), [world.top / path for path in paths], run, limits=limits)


def held(world: World, taken: Snapshot) -> dict[str, str]:
    names = world.git("ls-tree", "-r", "--name-only", taken.ref).split()
    return {name: world.git("show", f"{taken.ref}:{name}") for name in names}


@pytest.fixture
def dirty(world: World) -> World:
    """Staged and edited again, deleted, untracked, ignored, intent-to-add, a stash."""
    world.write("gone.py", "1")
    world.write("stashed.py", "1")
    world.commit()
    world.write("stashed.py", "2")
    world.git("stash", "-q")
    world.write("mod.py", "K=2\n")
    world.git("add", "mod.py")
    world.write("mod.py", "K=3\n")
    (world.top / "gone.py").unlink()
    world.write("un.py", "U\n")
    world.write("ign.py", "I\n")
    world.write("later.py", "L\n")
    world.git("add", "-N", "later.py")
    world.write("notes.txt", "not asked for\n")
    return world


def test_the_snapshot_holds_what_ran(dirty: World) -> None:
    taken = shot(dirty, "un.py", "ign.py")
    found = held(dirty, taken)
    assert found == {
        ".gitignore": "ign.py\n*.pyc\n",
        "ign.py": "I\n",
        "later.py": "L\n",
        "main.py": "import mod\n",
        "mod.py": "K=3\n",
        "stashed.py": "1",
        "un.py": "U\n",
    }
    assert taken.is_complete
    assert dirty.git("rev-parse", f"{taken.ref}^").strip() == taken.parent


def test_nothing_of_the_users_moves(dirty: World) -> None:
    before = state(dirty)
    shot(dirty, "un.py", "ign.py")
    assert state(dirty) == before


def test_bend_using_the_users_index_moves_it(dirty: World, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = snapshot_module.ask

    def without_own_index(*arguments: object, **keywords: object) -> object:
        if "GIT_INDEX_FILE" in (keywords.get("extra") or {}):  # type: ignore[operator]
            keywords["extra"] = {}
        return plain(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(snapshot_module, "ask", without_own_index)
    with pytest.raises(AssertionError):
        test_nothing_of_the_users_moves(dirty)


def test_it_survives_gc_and_does_not_show_on_branches(dirty: World) -> None:
    taken = shot(dirty, "un.py")
    dirty.git("reflog", "expire", "--expire=now", "--all")
    dirty.git("gc", "-q", "--prune=now")
    assert dirty.git("show", f"{taken.commit}:un.py") == "U\n"
    assert taken.commit not in dirty.git("log", "--branches", "--format=%H")


def test_an_unborn_head(tmp_path: Path, world: World) -> None:
    world.git("init", "-q", str(tmp_path / "new"))
    new = World(top=tmp_path / "new")
    new.write("a.py", "1")
    taken = shot(new, "a.py")
    assert (taken.parent, held(new, taken)) == (None, {"a.py": "1"})
    assert not (new.top / ".git/index").exists()


def test_no_identity_and_a_signing_habit_do_not_matter(world: World) -> None:
    world.git("config", "commit.gpgSign", "true")
    world.git("config", "user.useConfigOnly", "true")
    world.git("config", "core.logAllRefUpdates", "always")
    world.write("un.py", "1")
    taken = shot(world, "un.py")
    assert world.git("log", "-1", "--format=%an", taken.ref).strip() == "Affidavit"
    assert not (world.top / ".git/logs/refs/affidavit").exists()


def test_hooks_do_not_run(world: World, tmp_path: Path) -> None:
    hook = world.top / ".git/hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    world.write("un.py", "1")
    shot(world, "un.py")
    assert not (tmp_path / "ran").exists()


def test_an_edit_that_a_filter_would_undo_is_kept_raw(world: World) -> None:
    world.git("config", "filter.z.clean", "sed s/K=2/K=1/")
    (world.top / ".git/info/attributes").write_text("mod.py filter=z\n")
    world.write("mod.py", "K=2\n")
    assert world.git("cat-file", "blob", f"{shot(world, 'mod.py').ref}:mod.py") == "K=2\n"


def test_modes_and_links_are_kept(world: World) -> None:
    world.write("run.py", "1").chmod(0o755)
    (world.top / "link.py").symlink_to("mod.py")
    world.git("add", "link.py")
    taken = shot(world, "run.py")
    modes = {line.split("\t")[1]: line.split()[0] for line in world.git("ls-tree", taken.ref).splitlines()}
    assert (modes["run.py"], modes["link.py"]) == ("100755", "120000")


def test_a_file_in_place_of_a_folder(world: World) -> None:
    world.write("pkg/a.py", "1")
    world.commit()
    (world.top / "pkg/a.py").unlink()
    (world.top / "pkg").rmdir()
    world.write("pkg", "now a file")
    found = held(world, shot(world, "pkg"))
    assert found["pkg"] == "now a file"


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (".env", "A=1", "name matches .env"),
        ("id_rsa", "x", "name matches id_rsa*"),
        ("server.pem", "x", "name matches *.pem"),
        ("my_secret.yaml", "x", "name says 'secret'"),
        ("hf-token.txt", "x", "name says 'token'"),
        ("aws_credentials.json", "x", "name says 'credentials'"),
        ("keys.py", f"T = '{FAKE_TOKEN}'", "content holds a Hugging Face token"),
        ("aws.yaml", "id: AKIA" + "B" * 16, "content holds a AWS access key id"),
        ("k.txt", "-----BEGIN RSA " + "PRIVATE KEY-----", "content holds a private key"),
    ],
)
def test_a_secret_never_enters_the_object_store(world: World, path: str, text: str, why: str) -> None:
    world.write(path, text)
    before = objects(world)
    taken = shot(world, path)
    assert [(refused.path, refused.why.partition(":")[0]) for refused in taken.refused] == [(path, why)]
    assert text not in [body for name, body in held(world, taken).items()]
    assert len(objects(world)) == len(before) + 1  # the commit alone: the tree is HEAD's


def objects(world: World) -> list[str]:
    return world.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()


def test_a_tracked_file_with_a_new_secret_is_refused_too(world: World) -> None:
    world.write("mod.py", f"TOKEN = '{FAKE_TOKEN}'\n")
    taken = shot(world)
    assert held(world, taken)["mod.py"] == "K=1\n"
    assert not taken.is_complete


@pytest.mark.parametrize(
    "name", ["tokenizer.py", "token_loss.py", "special_tokens_map.json", "tokenizer.json", "env.py"]
)
def test_a_tokenizer_is_no_secret(name: str) -> None:
    assert secret_in_name(Path(name)) is None


def test_a_commit_id_is_no_secret() -> None:
    assert secret_in_content(b"a" * 40 + b" sk-learn hf_hub_download AKIA") is None


def test_the_caps(world: World) -> None:
    for name, size in (("a.py", 40), ("b.py", 40), ("c.py", 40), ("big.py", 60)):
        world.write(name, "x" * size)
    limits = SnapshotLimits(file_bytes=50, total_bytes=100)
    taken = shot(world, "a.py", "b.py", "c.py", "big.py", limits=limits)
    assert [(refused.path, refused.why) for refused in taken.refused] == [
        ("c.py", "40 bytes; the cap is 100"),
        ("big.py", "60 bytes; the cap is 50"),
    ]


def test_a_submodule_and_a_foreign_file_are_refused_by_name(tmp_path: Path) -> None:
    world = with_submodule(new_world(tmp_path / "r"))
    world.write("sub/sm.py", "K=2\n")
    (tmp_path / "stray.py").write_text("1")
    taken = take(read(world.top), [world.top / "sub/sm.py", tmp_path / "stray.py"], "r")
    assert {Path(refused.path).name for refused in taken.refused} == {"sm.py", "stray.py", "sub"}
    inner = take(read(world.top / "sub"), [world.top / "sub/sm.py"], "r")
    assert world.git("show", f"{inner.ref}:sm.py", folder=world.top / "sub") == "K=2\n"


def test_a_ref_is_never_overwritten(world: World) -> None:
    first = shot(world)
    with pytest.raises(GitRefusedError, match="update-ref"):
        shot(world)
    assert world.git("rev-parse", first.ref).strip() == first.commit


@pytest.mark.parametrize("run", ["", "../heads/main", "a b", "a.lock", "a..b", "-x", "a/b", "x~1"])
def test_a_run_id_that_is_no_ref_name(world: World, run: str) -> None:
    with pytest.raises(SnapshotError, match=r"snapshot\.run_id"):
        shot(world, run=run)


def test_a_repository_that_cannot_be_written(world: World) -> None:
    blocker = world.top / ".git/refs/affidavit"
    blocker.write_text("a file where a folder is needed\n")
    with pytest.raises(GitRefusedError):
        shot(world)


def test_a_clone_does_not_get_the_ref(dirty: World, tmp_path: Path) -> None:
    taken = shot(dirty, "un.py")
    url = f"file://{dirty.top}"
    subprocess.run(
        ["git", "clone", "-q", url, str(tmp_path / "clone")], check=True, env=os.environ, capture_output=True
    )
    ended = subprocess.run(
        ["git", "cat-file", "-e", taken.commit], cwd=tmp_path / "clone", check=False, capture_output=True
    )
    assert ended.returncode != 0
