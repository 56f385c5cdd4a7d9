"""``affidavit stamp``: written where git is, judged where it is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cli.desk import Desk


def image(project: Desk, place: Path) -> Desk:
    """A container's copy of the project: all of it but the repository."""
    shutil.copytree(project.root, place, ignore=shutil.ignore_patterns(".git", ".affidavit"))
    return Desk(root=place)


def verdict(app: Desk, check: str = "code-is-committed") -> tuple[str, str]:
    """What one check says of the last run, and why."""
    (found,) = (one for one in app.document("check")["findings"] if one["check"] == check)
    return found["verdict"], found["message"]


def said(text: str) -> str:
    """What was said, on one line."""
    return " ".join(text.split())


def test_a_run_without_a_repository_is_held_against_the_stamp(project: Desk, tmp_path: Path) -> None:
    without = image(project, tmp_path / "without")
    ended = without.train()
    assert "the code is in no git repository" in without.type("check").stdout, ended.stderr

    made = project.type("stamp")
    assert (
        made.exit_code == 0 and made.stdout.startswith("project@") and "1 file in affidavit-stamp.json" in made.stdout
    )
    app = image(project, tmp_path / "app")
    ended = app.train()
    assert "no git here; held against the stamp of project@" in said(ended.stderr)
    assert verdict(app)[0] == verdict(app, "tree-is-committed")[0] == "PASS"
    facts = app.type("show", "--facts").stdout
    assert "1 stamped" in facts and "(stamp)" in facts


def test_code_that_was_changed_in_the_image_does_not_start(project: Desk, tmp_path: Path) -> None:
    project.type("stamp")
    app = image(project, tmp_path / "app")
    with (app.root / "train.py").open("a") as script:
        script.write("# a hotfix in the image\n")
    ended = app.train()
    assert ended.returncode == 1
    assert "saw train.py (differs-from-stamp)" in said(ended.stderr)


def test_a_dirty_tree_is_stamped_as_what_it_is(project: Desk, tmp_path: Path) -> None:
    with (project.root / "train.py").open("a") as script:
        script.write("# not committed\n")
    made = project.type("stamp")
    assert made.exit_code == 0
    assert "dirty: train.py, modified" in made.stdout and "no commit holds them" in made.stdout
    assert project.document("stamp")["dirty"] == [{"path": "train.py", "verdict": "modified"}]
    app = image(project, tmp_path / "app")
    ended = app.train()
    assert ended.returncode == 1
    assert "saw train.py (modified)" in said(ended.stderr)
    assert "1 files were dirty when it was made" in said(ended.stderr)
    assert app.train(options=("--tree", "allow", "--reason", "a trial")).returncode == 0


def test_a_stamp_that_was_edited_makes_nothing_clean(project: Desk, tmp_path: Path) -> None:
    project.type("stamp")
    app = image(project, tmp_path / "app")
    path = app.root / "affidavit-stamp.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "commit": "1" * 40}))
    ended = app.train()
    assert "expected a stamp of format 1" in said(ended.stderr)
    for check in ("code-is-committed", "tree-is-committed"):
        assert verdict(app, check)[0] == "UNKNOWN"
        assert "bytes that its seal does not cover" in verdict(app, check)[1]


def test_a_snapshot_cannot_be_taken_where_no_git_is(project: Desk, tmp_path: Path) -> None:
    project.type("stamp")
    app = image(project, tmp_path / "app")
    with (app.root / "train.py").open("a") as script:
        script.write("# a hotfix in the image\n")
    ended = app.train(options=("--tree", "snapshot"))
    assert ended.returncode == 1 and "no way to keep" in said(ended.stderr)


def test_there_is_nothing_to_stamp_without_a_repository(project: Desk, tmp_path: Path) -> None:
    app = image(project, tmp_path / "app")
    ended = app.type("stamp")
    assert ended.exit_code == 2
    assert "expected a folder of a repository with a commit" in said(ended.stderr)
    assert not (app.root / "affidavit-stamp.json").exists()
