"""Every row that the facts can see: the fault is caught by the check it names, its twin is quiet, the table is true."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import Server
from worlds import CHECKS, judged

from affidavit.check import Verdict
from corpus import HERE, TABLE, Row, rows, table

ROOT = HERE.parents[1]
WORLD = {check.replace("-", "_") for check in CHECKS}
ROWS = rows()
SHOWN = [row for row in ROWS if row.has_scripts]
LOUD = {Verdict.FAIL.value, Verdict.REVIEW.value}
ALSO_COLD = {"L2-02", "L3-34", "L3-36", "L3-54", "L3b-01", "L3b-18"}
"""Rows that start cold as well, through the true launcher: one of each kind of fact."""
GIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))
}
COLD = [row for row in SHOWN if row.ranks > 1 or row.id in ALSO_COLD]
PROJECTS = [row for row in SHOWN if row.is_project]
FORKED = [row for row in SHOWN if row.ranks == 1 and not row.is_project]
TWINS = [(row, script) for row in FORKED for script in (row.fault, row.clean)]


def _name(item: object) -> str:
    return item.id if isinstance(item, Row) else item.stem if isinstance(item, Path) else ""


@pytest.mark.parametrize(("row", "script"), TWINS, ids=_name)
def test_a_row_is_caught_and_its_twin_is_quiet(world_server: Server, tmp_path: Path, row: Row, script: Path) -> None:
    said = {found.check: found.verdict.value for found in judged(world_server, tmp_path, script)}
    _assert_told_apart(row, script, said)


@pytest.mark.parametrize(
    ("row", "script"), [(row, script) for row in COLD for script in (row.fault, row.clean)], ids=_name
)
def test_a_row_is_caught_through_the_true_launcher(tmp_path: Path, row: Row, script: Path) -> None:
    _assert_told_apart(row, script, _cold(row, script, tmp_path))


@pytest.mark.parametrize(
    ("row", "script"), [(row, script) for row in PROJECTS for script in (row.fault, row.clean)], ids=_name
)
def test_a_project_is_caught_through_the_true_launcher(tmp_path: Path, row: Row, script: Path) -> None:
    """The shell script lays the project in an empty folder, and says in its last line what is to be run."""
    environment = {**os.environ, "HERE": str(row.folder), "PYTHON": sys.executable, "OMP_NUM_THREADS": "1", **GIT}
    laid = subprocess.run(["sh", "-eu", str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert laid.returncode == 0, laid.stderr
    folder, *command = laid.stdout.splitlines()[-1].split()
    affidavit = [sys.executable, "-m", "affidavit.cli"]
    run = [*affidavit, "run", "--", sys.executable, *command]
    ran = subprocess.run(run, cwd=tmp_path / folder, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) is (script == row.clean) or row.caught_by != "tree-is-committed", ran.stderr
    _assert_told_apart(row, script, _shown(tmp_path / folder, environment))


def test_enough_rows_start_cold() -> None:
    assert len(COLD) >= 10


def _assert_told_apart(row: Row, script: Path, said: dict[str, str]) -> None:
    loud = {check for check, verdict in said.items() if verdict in LOUD}
    if script == row.fault:
        assert row.caught_by in loud, said
    else:
        assert said[row.caught_by] == "PASS", said
        assert loud == set(), said


def _cold(row: Row, script: Path, folder: Path) -> dict[str, str]:
    """Run a script as a user would, in a repository of its own, and return what ``show`` says of the run."""
    project = folder / "project"
    project.mkdir()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **GIT}
    for word in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "nothing yet"]):
        subprocess.run(["git", *word], cwd=project, env=environment, check=True)
    environment["PYTHONPATH"] = str(HERE.parents[1] / "src/affidavit/demo/scripts")
    python = [sys.executable] if row.ranks == 1 else [str(Path(sys.executable).parent / "torchrun")]
    python += [] if row.ranks == 1 else ["--nproc_per_node", str(row.ranks)]
    affidavit = [sys.executable, "-m", "affidavit.cli"]
    gate = ["--tree", "allow", "--reason", "a row of the corpus"]
    run = [*affidavit, "run", *gate, "--", *python, str(script), str(folder / "output")]
    ran = subprocess.run(run, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return _shown(project, environment)


def _shown(project: Path, environment: dict[str, str]) -> dict[str, str]:
    show = [sys.executable, "-m", "affidavit.cli", "show", "last", "--json"]
    shown = subprocess.run(show, cwd=project, env=environment, capture_output=True, text=True, check=False)
    return {found["check"]: found["verdict"] for found in json.loads(shown.stdout)["findings"]}


@pytest.mark.parametrize("row", SHOWN, ids=_name)
def test_a_shown_row_has_a_twin_and_names_a_check(row: Row) -> None:
    assert row.clean.is_file()
    assert row.caught_by in CHECKS


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_is_shown_or_says_why_not(row: Row) -> None:
    assert [row.has_scripts, bool(row.shown), bool(row.needs), bool(row.missed)].count(True) == 1
    file, _, test = row.shown.partition("::")
    assert not file or f"def {test}(" in (ROOT / file).read_text() or (not test and (ROOT / file).parent.name in WORLD)


def test_every_folder_is_a_row() -> None:
    folders = {place.parent for stem in ("fault", "clean") for place in HERE.glob(f"*/{stem}.*")}
    assert folders == {row.folder for row in SHOWN}


def test_the_table_is_the_one_that_is_generated() -> None:
    assert TABLE.read_text() == table()
