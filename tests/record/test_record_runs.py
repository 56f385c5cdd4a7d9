"""A run is found by what a person types, and what is near is shown where none or several match."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from record_world import FLASH, fact, sealed

from affidavit.record import runs
from affidavit.record.runs import RunNotFoundError

NOWHERE: dict[str, str] = {}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three runs; the one whose name sorts first was launched last."""
    for age, name in ((30, "20261129-b1"), (20, "20261130-c2"), (10, "20261128-a0")):
        folder = tmp_path / ".affidavit" / "runs" / name
        folder.mkdir(parents=True)
        launch = folder / "launch.0.json"
        launch.touch()
        os.utime(launch, (1_000_000 - age, 1_000_000 - age))
    return tmp_path


def test_the_last_run_is_the_one_launched_last(project: Path) -> None:
    assert runs.find(project, "last", NOWHERE).id == "20261128-a0"
    assert [run.id for run in runs.runs(project, NOWHERE)] == ["20261129-b1", "20261130-c2", "20261128-a0"]


def test_a_requeued_run_is_as_young_as_its_last_attempt(project: Path) -> None:
    again = project / ".affidavit" / "runs" / "20261129-b1" / "launch.1.json"
    again.touch()
    assert runs.find(project, "last", NOWHERE).id == "20261129-b1"


@pytest.mark.parametrize("name", ["20261130-c2", "20261130", "20261130-"])
def test_an_id_and_its_unique_beginning_name_a_run(project: Path, name: str) -> None:
    assert runs.find(project, name, NOWHERE).id == "20261130-c2"


def test_an_id_that_begins_another_names_itself(project: Path) -> None:
    (project / ".affidavit" / "runs" / "20261130-c2-rehearsal").mkdir()
    (project / ".affidavit" / "runs" / "20261130-c2-rehearsal" / "hello").touch()
    assert runs.find(project, "20261130-c2", NOWHERE).id == "20261130-c2"


def test_a_path_names_a_run_of_another_project(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = sealed(tmp_path_factory.mktemp("copied-run"), fact("attention.executed", FLASH))
    found = runs.find(project, str(elsewhere), NOWHERE)
    assert (found.folder, found.is_sealed) == (elsewhere, True)


def test_a_folder_in_which_nothing_of_a_run_lies_is_none(project: Path) -> None:
    """Sealed as one, it would stand in the way of the run that is just being prepared in it."""
    (project / ".affidavit" / "runs" / "zz-new").mkdir()
    (project / ".affidavit" / "runs" / "zz-new" / "notes.txt").touch()
    assert runs.find(project, "last", NOWHERE).id == "20261128-a0"
    with pytest.raises(RunNotFoundError):
        runs.find(project, "zz-new", NOWHERE)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2026112", r"2 runs that begin so; near: 20261128-a0, 20261129-b1"),
        ("20261131-c2", r"no such run; near: 20261130-c2"),
        ("", r"no such run; near: 20261128-a0"),
        ("/", r"no such run"),
    ],
)
def test_none_or_several_show_what_is_near(project: Path, name: str, why: str) -> None:
    with pytest.raises(RunNotFoundError, match=why) as caught:
        runs.find(project, name, NOWHERE)
    assert 'Run "affidavit ls".' in str(caught.value)


def test_a_project_without_runs_says_how_to_make_one(tmp_path: Path) -> None:
    assert runs.runs(tmp_path, NOWHERE) == ()
    with pytest.raises(RunNotFoundError, match=r"no run at all\.\n.*affidavit run -- COMMAND"):
        runs.find(tmp_path, "last", NOWHERE)


def test_the_folder_can_lie_elsewhere(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    moved = tmp_path_factory.mktemp("scratch")
    (moved / "runs" / "only").mkdir(parents=True)
    (moved / "runs" / "only" / "hello").touch()
    environment = {"AFFIDAVIT_DIR": str(moved)}
    assert [run.id for run in runs.runs(project, environment)] == ["only"]
    assert runs.home(project, environment) == moved and runs.home(project, NOWHERE) == project / ".affidavit"
