"""What runs and deviates is a site; what is merely dirty is one grey line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from git_world import World, interpreter

from affidavit.observe import (
    FileVerdict,
    LoadedFile,
    TreeReport,
    TreeState,
    config_arguments,
    examine,
    identify,
    script_closure,
)
from affidavit.observe import benign as benign_module
from affidavit.observe import tree as tree_module


def notebook(source: str, output: str) -> str:
    cell = {
        "cell_type": "code",
        "source": [source],
        "outputs": [{"text": output}],
        "execution_count": len(output),
        "metadata": {},
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def project(world: World) -> World:
    """A training project, committed: script, module, config, test, README, notebook, lock."""
    world.write("train.py", "import mod\n")
    world.write("config.yaml", "lr: 1\n")
    world.write("tests/test_mod.py", "import mod\n")
    world.write("README.md", "hello\n")
    world.write("look.ipynb", notebook("1+1", ""))
    world.write("affidavit.lock", "a\n")
    world.commit()
    return world


def report(world: World, *argv: str) -> TreeReport:
    closure = script_closure(world.top / "train.py", (world.top,), interpreter())
    paths = [file.path for file in closure.files] + list(config_arguments(argv, world.top))
    code = identify([LoadedFile(path=path) for path in paths], interpreter())
    return examine(code, world.top, not_scanned=closure.not_scanned, dynamic=closure.dynamic)


BENIGN: dict[str, tuple[Callable[[World], object], str | None]] = {
    "README edit": (
        lambda w: w.write("README.md", "bye\n"),
        "README.md: edited, documentation; not part of this run",
    ),
    "notes.md": (
        lambda w: w.write("notes.md", "x"),
        "notes.md: untracked, documentation; not part of this run",
    ),
    "outputs/": (
        lambda w: w.write("outputs/model.bin", "x"),
        "outputs/: untracked, run output; not part of this run",
    ),
    "wandb/": (
        lambda w: w.write("wandb/run-1/x.json", "x"),
        "wandb/: untracked, tracker files; not part of this run",
    ),
    "__pycache__": (
        lambda w: w.write("__pycache__/mod.cpython-311.opt-1.pyo", "x"),
        "__pycache__/: untracked, bytecode; not part of this run",
    ),
    "notebook output": (
        lambda w: w.write("look.ipynb", notebook("1+1", "2")),
        "look.ipynb: edited, notebook output only; not part of this run",
    ),
    "edited test": (
        lambda w: w.write("tests/test_mod.py", "import mod, os\n"),
        "tests/test_mod.py: edited, test; not part of this run",
    ),
    "affidavit.lock": (lambda w: w.write("affidavit.lock", "b\n"), None),
}


@pytest.mark.parametrize("name", BENIGN)
def test_a_benign_tree_is_described_with_one_line(project: World, name: str) -> None:
    do, line = BENIGN[name]
    do(project)

    found = report(project, "--config", "config.yaml")

    assert found.is_described
    assert (found.state, found.examined) == (TreeState.READ, 3)
    assert [str(entry) for entry in found.benign] == ([line] if line else [])


@pytest.mark.parametrize("name", BENIGN)
def test_a_benign_tree_does_not_excuse_the_code_beside_it(project: World, name: str) -> None:
    BENIGN[name][0](project)
    project.write("mod.py", "K=2\n")
    found = report(project)
    assert not found.is_described
    assert [(site.real.name, site.verdict) for site in found.sites] == [("mod.py", FileVerdict.MODIFIED)]


def test_all_eight_benign_trees_are_here() -> None:
    assert len(BENIGN) == 8


def test_the_lock_is_ours(project: World) -> None:
    project.write("affidavit.lock", "b\n")
    assert [path.name for path in report(project).own] == ["affidavit.lock"]


def test_a_lock_elsewhere_is_not_ours(project: World) -> None:
    project.write("pkg/affidavit.toml", "x")
    found = report(project, "pkg/affidavit.toml")
    assert [site.real.name for site in found.sites] == ["affidavit.toml"]


@pytest.mark.parametrize(
    ("path", "text", "verdict"),
    [
        ("mod.py", "K=2\n", FileVerdict.MODIFIED),
        ("config.yaml", "lr: 2\n", FileVerdict.MODIFIED),
        ("train.py", "import mod, ign\n", FileVerdict.MODIFIED),
    ],
)
def test_what_runs_and_deviates_is_a_site(project: World, path: str, text: str, verdict: FileVerdict) -> None:
    project.write(path, text)
    found = report(project, "--config=config.yaml")
    assert [(site.real.name, site.verdict) for site in found.sites] == [(path, verdict)]
    assert not found.benign


def test_an_ignored_module_that_is_imported_is_a_site(project: World) -> None:
    project.write("train.py", "import ign\n")
    project.commit()
    project.write("ign.py", "1")
    assert [site.verdict for site in report(project).sites] == [FileVerdict.NOT_IN_COMMIT]


def test_an_untracked_package_that_runs_is_a_site_and_its_rest_a_line(project: World) -> None:
    project.write("train.py", "import pkg.a\n")
    project.commit()
    project.write("pkg/a.py", "1")
    project.write("pkg/b.py", "1")
    found = report(project)
    assert [site.owner.path for site in found.sites] == ["pkg/a.py"]
    assert [str(line) for line in found.benign] == ["pkg/: untracked, folder; the rest of it is not part of this run"]


def test_an_edited_config_that_was_not_given_is_a_line(project: World) -> None:
    project.write("config.yaml", "lr: 2\n")
    found = report(project)
    assert found.is_described
    assert "config that this run was not given" in str(found.benign[0])


def test_a_notebook_that_runs_is_judged_by_its_cells(project: World) -> None:
    def run() -> TreeReport:
        return examine(identify([LoadedFile(path=project.top / "look.ipynb")], interpreter()), project.top)

    project.write("look.ipynb", notebook("1+1", "2"))
    assert run().is_described
    project.write("look.ipynb", notebook("1+2", "3"))
    assert [site.real.name for site in run().sites] == ["look.ipynb"]


def test_a_submodule_at_another_commit_than_recorded(nested: World) -> None:
    nested.write("train.py", "import sub.sm\n")
    nested.commit()
    assert report(nested).is_described
    nested.write("sub/sm.py", "K=2\n")
    moved_to = nested.commit(folder=nested.top / "sub")
    found = report(nested)
    assert [moved.checked_out for moved in found.moved] == [moved_to]
    assert not found.sites
    assert not found.is_described


def test_a_file_that_could_not_be_read_as_python_is_not_clean(project: World) -> None:
    project.write("mod.py", "import x\nprint 'two'\n")
    project.commit()
    found = report(project)
    assert not found.sites
    assert not found.is_described


def test_no_file_is_not_a_clean_tree(project: World) -> None:
    assert not examine(identify([], interpreter()), project.top).is_described


def test_an_unborn_head(tmp_path: Path, world: World) -> None:
    world.git("init", "-q", str(tmp_path / "new"))
    new = World(top=tmp_path / "new")
    new.write("train.py", "1")
    found = report(new)
    assert (found.state, found.is_described) == (TreeState.UNBORN, False)


def test_no_repository(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("1")
    found = report(World(top=tmp_path))
    assert (found.state, found.is_described) == (TreeState.NO_REPOSITORY, False)
    assert [site.verdict for site in found.sites] == [FileVerdict.ORPHAN]


def test_git_refuses(project: World) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder away")
    for path in (project.top, project.top / ".git"):
        os.chown(path, 12345, 12345)
    found = report(project)
    assert (found.state, found.is_described) == (TreeState.REFUSED, False)
    assert len(found.undetermined) == 2
    assert "safe.directory" in found.why


def test_bend_weighing_everything_that_is_dirty_refuses_a_readme(
    project: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "DESCRIBED", frozenset({FileVerdict.INSTALLED}))
    with pytest.raises(AssertionError):
        test_a_benign_tree_is_described_with_one_line(project, "README edit")


def test_bend_calling_every_notebook_its_output_hides_an_edit(project: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benign_module, "has_same_source", lambda one, other: True)
    with pytest.raises(AssertionError):
        test_a_notebook_that_runs_is_judged_by_its_cells(project)


def test_bend_forgetting_refusals_calls_a_refused_tree_described(
    project: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "UNDETERMINED", frozenset())
    with pytest.raises(AssertionError):
        test_git_refuses(project)
