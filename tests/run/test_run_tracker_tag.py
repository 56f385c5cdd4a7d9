"""What an MLflow run was told of a seal is held against what lies in the folder; what could not be asked never passes.

The rows ask a stand-in for MLflow, through the program that asks the real one; the story at the end has the real one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as with_
from pathlib import Path

import pytest
from run_world import HERE, Project
from tests.run.notarised import RUN, World, replace, world, write

from affidavit.record import chain, seal
from affidavit.record.standing import Examined, Standing
from affidavit.run.tracker import asked
from affidavit.run.tracker.tag import WHAT, Tracker, TrackerError, announced

SECRET = "hunter2"


@dataclass(frozen=True)
class Tracked:
    """A project with one signed run that was corrected twice, and the file in which its tracker keeps its runs."""

    there: World
    path: Path

    @property
    def tracker(self) -> Tracker:
        told = {**os.environ, "PYTHONPATH": str(HERE / "stand_in"), "PATH": ""}
        return Tracker(root=self.there.root, uri=f"stand-in:{self.path}", environment=told)

    def keep(self, **runs: Mapping[str, str]) -> None:
        """Let the tracker have these runs, each with its tags; one whose name begins with "binned" is in the bin."""
        held = {
            name: {"tags": dict(tags), "stage": "deleted" if name.startswith("binned") else "active"}
            for name, tags in runs.items()
        }
        self.path.write_text(json.dumps(held))

    def kept(self, run: str) -> Mapping[str, str]:
        return json.loads(self.path.read_text())[run]["tags"]  # type: ignore[no-any-return]

    def told(self) -> tuple[str, ...]:
        return tuple(self.tracker.remember(self.there.folder))

    def examined(self) -> Examined:
        notary = with_(self.there.notary, tracker=self.tracker)
        (one,) = [one for one in notary.verify(self.there.folder).examined if one.what == WHAT]
        return one

    def head(self, corrections: int = 2) -> str:
        """Return the head as it was after so many corrections."""
        return (self.there.stages[corrections] / "head.json").read_text()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    return world(tmp_path_factory.mktemp("tracked") / "project", signed=True)


@pytest.fixture
def tracked(whole: World, tmp_path: Path) -> Tracked:
    shutil.copytree(whole.root, tmp_path / "project")
    trusted = (tmp_path / "project" / "ours.pub",)
    notary = with_(whole.notary, root=tmp_path / "project", trusted=trusted)
    return Tracked(World(root=tmp_path / "project", notary=notary, stranger=whole.stranger), tmp_path / "kept.json")


def ours(seal: str = "") -> dict[str, str]:
    return {"affidavit.run": RUN, **({"affidavit.seal": seal} if seal else {})}


def _elsewhere(head: str) -> str:
    return head.replace(json.loads(head)["manifest"], f"sha256:{'0' * 64}")


ROWS: tuple[tuple[Callable[[Tracked], None], Standing, str], ...] = (
    (lambda t: t.keep(), Standing.UNCHECKED, "kept.json has no run of this training"),
    (lambda t: t.keep(a={}), Standing.UNCHECKED, "has no run of this training"),
    (lambda t: t.keep(a=ours()), Standing.UNCHECKED, "MLflow run a is of this run, and was told no seal of it"),
    (lambda t: t.keep(a=ours(t.head())), Standing.HOLDS, "MLflow run a in stand-in:"),
    (lambda t: t.keep(a=ours(t.head(1)), b=ours(t.head())), Standing.HOLDS, "MLflow run b in "),
    (lambda t: t.keep(binned=ours(t.head())), Standing.HOLDS, "MLflow run binned in "),
    (lambda t: t.keep(a=ours(t.head(1))), Standing.UNCHECKED, "what was sealed or corrected last was not told to it"),
    (lambda t: t.keep(a=ours(_elsewhere(t.head()))), Standing.BROKEN, "saw sha256:0000"),
    (lambda t: t.keep(a=ours(t.head()), b=ours(_elsewhere(t.head()))), Standing.BROKEN, "which does not lie here"),
    (lambda t: t.keep(a=ours("{}")), Standing.BROKEN, "MLflow run a: its tag affidavit.seal is no head of ours"),
    (lambda t: t.path.write_text(f"token={SECRET} \x1b[31m"), Standing.UNCHECKED, "could not be asked: RuntimeError"),
    (lambda t: None, Standing.UNCHECKED, "could not be asked: FileNotFoundError"),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2])
def test_what_the_tracker_has_is_held_against_the_folder(
    tracked: Tracked, row: tuple[Callable[[Tracked], None], Standing, str]
) -> None:
    prepare, standing, said = row
    prepare(tracked)
    one = tracked.examined()
    assert (one.standing, said in one.said) == (standing, True), one
    assert SECRET not in one.said and one.said.isprintable()


def test_a_tracker_is_reached_before_a_training(tracked: Tracked) -> None:
    tracked.keep()
    assert tracked.tracker.reach() == f"stand-in:{tracked.path}"
    tracked.path.write_text(f"token={SECRET}\nmore")
    with pytest.raises(TrackerError, match=r"could not be asked: RuntimeError: token=.redacted.$"):
        tracked.tracker.reach()
    missing = with_(tracked.tracker, uri=str(tracked.path.parent / "none"))
    assert missing.reach() == f"{tracked.path.parent}/none, which the first run makes"


@pytest.mark.parametrize("body", ["exit 1", "echo hello", "echo '{\"runs\": 3}'", None])
def test_a_python_that_answers_nothing_is_no_crash(
    tracked: Tracked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str | None
) -> None:
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{body}\n" if body else "no program")
    path.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(path))
    with pytest.raises(TrackerError, match="answered nothing that we read"):
        tracked.tracker.reach()


def test_who_does_not_answer_is_not_waited_for(tracked: Tracked) -> None:
    tracked.path.write_text("sleep")
    found = tracked.there.notary.verify(tracked.there.folder)
    one = with_(tracked.tracker, limit_seconds=0.5).examine(tracked.there.folder, found)
    assert one is not None and (one.standing, one.said) == (
        Standing.UNCHECKED,
        "MLflow could not be asked: no answer in 0.5 s",
    )


def test_where_no_python_has_mlflow_nothing_passes(tracked: Tracked) -> None:
    found = tracked.there.notary.verify(tracked.there.folder)
    one = with_(tracked.tracker, environment={"PATH": ""}).examine(tracked.there.folder, found)
    assert one is not None and one.standing is Standing.UNCHECKED and "has it" in one.said


def test_an_mlflow_that_is_broken_says_how(tracked: Tracked, tmp_path: Path) -> None:
    (tmp_path / "mlflow").mkdir()
    (tmp_path / "mlflow" / "__init__.py").write_text("import a_wheel_that_is_missing\n")
    found = tracked.there.notary.verify(tracked.there.folder)
    told = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": ""}
    one = with_(tracked.tracker, environment=told).examine(tracked.there.folder, found)
    assert one is not None and one.standing is Standing.UNCHECKED
    assert one.said.startswith("MLflow could not be asked: ModuleNotFoundError: No module named 'a_wheel")


def test_the_newest_head_is_told_and_the_one_before_it_gives_way(tracked: Tracked) -> None:
    tracked.keep(a=ours(), b=ours(tracked.head(1)), inner={**ours(), "mlflow.parentRunId": "a"}, binned=ours())
    assert tracked.told() == ()
    assert [tracked.kept(run).get("affidavit.seal", "") for run in ("a", "b", "inner", "binned")] == [
        tracked.head(),
        tracked.head(),
        "",
        "",
    ]
    assert tracked.examined().standing is Standing.HOLDS


def test_a_correction_of_a_forged_record_does_not_carry_the_forgery_over(tracked: Tracked) -> None:
    """Our own verbs would launder what the key's holder wrote anew, if they moved the tag whatever it says."""
    tracked.keep(a=ours(tracked.head()))
    write(tracked.there.folder, "as it never was")
    chain.annotate(tracked.there.folder, falls=("attention.executed",), reason="no reason", author="eve")
    assert tracked.told() == ("no tracker witness: MLflow run a saw another seal of this run, and keeps it",)
    assert tracked.kept("a")["affidavit.seal"] == tracked.head()
    assert tracked.examined().standing is Standing.BROKEN


def test_an_older_state_that_was_put_back_is_seen_and_not_told(tracked: Tracked) -> None:
    tracked.keep(a=ours(tracked.head()))
    shutil.rmtree(tracked.there.folder)
    shutil.copytree(tracked.there.stages[1], tracked.there.folder)
    assert "saw another seal" in tracked.told()[0]
    assert "with 2 corrections, which does not lie here" in tracked.examined().said


def test_a_later_attempt_takes_the_tag_over(tracked: Tracked) -> None:
    """A run that goes on in the same MLflow run is sealed anew, and the seal before it lies beside the new one."""
    tracked.keep(a=ours(tracked.head()))
    place = tracked.there.folder / "sealed" / "0"
    place.mkdir(parents=True)
    digest = seal.read_sealed(tracked.there.folder).digest
    for name in ("manifest.json", "head.json", "annotations.jsonl", "manifest.dsse.json", "head.dsse.json"):
        (tracked.there.folder / name).rename(place / name)
    write(tracked.there.folder, f"attempt 0 was sealed as {digest}")
    assert tracked.examined().said == "what was sealed or corrected last was not told to it"
    assert tracked.told() == ()
    assert json.loads(tracked.kept("a")["affidavit.seal"])["count"] == 0
    assert tracked.examined().standing is Standing.HOLDS


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda t: t.keep(), "kept.json has no run of this training"),
        (lambda t: t.keep(binned=ours()), "has no run of this training"),
        (lambda t: t.path.write_text(f"password={SECRET}"), "could not be asked: RuntimeError: password="),
        (lambda t: replace(t.there.folder / "annotations.jsonl", b"{}\n"), "the corrections do not hold: #1"),
        (lambda t: replace(t.there.folder / "manifest.json", b"{}"), "seal of run-1: expected manifest.json"),
    ],
)
def test_what_cannot_be_told_is_said_and_nothing_is_raised(
    tracked: Tracked, prepare: Callable[[Tracked], None], said: str
) -> None:
    prepare(tracked)
    (told,) = tracked.told()
    assert told.startswith("no tracker witness: ") and said in told and SECRET not in told, told


def test_an_mlflow_run_is_named_by_the_environment_of_its_supervisor_only(
    tracked: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another shell's MLFLOW_RUN_ID is of another run."""
    tracked.keep(a={}, other={"affidavit.run": "run-0"})
    chosen = {**tracked.tracker.environment, "MLFLOW_RUN_ID": "a"}
    folder = tracked.there.folder
    assert "has no run of this training" in next(with_(tracked.tracker, environment=chosen).remember(folder))
    theirs, mine = Tracker(root=folder, environment=chosen), Project(tracked.there.root).prepare("true").folder
    assert (theirs._named(folder), theirs._named(mine)) == ("", "a")
    monkeypatch.setattr(Tracker, "_named", lambda self, folder: self.environment["MLFLOW_RUN_ID"])
    assert tuple(with_(tracked.tracker, environment=chosen).remember(folder)) == ()
    assert tracked.kept("a") == ours(tracked.head())
    chosen["MLFLOW_RUN_ID"] = "other"
    (told,) = with_(tracked.tracker, environment=chosen).remember(folder)
    assert told == "no tracker witness: MLflow run other is run-0's, and was left alone"
    assert tracked.kept("other") == {"affidavit.run": "run-0"}


def test_what_a_person_put_into_the_context_stays() -> None:
    name = "MLFLOW_RUN_CONTEXT"
    assert announced({"A": "b"}, RUN) == {"A": "b", name: f'{{"affidavit.run": "{RUN}"}}'}
    assert json.loads(announced({name: '{"team": "red"}'}, RUN)[name]) == {"team": "red", "affidavit.run": RUN}
    for unreadable in ("{", "[]"):
        assert announced({name: unreadable}, RUN) == {name: unreadable}


@pytest.mark.parametrize(
    ("uri", "is_there"),
    [
        ("file://{}/a%20b", True),
        ("file://{}/none", False),
        ("{}/a b", True),
        ("{}/none", False),
        ("sqlite:///{}/a%20b/m.db", True),
        ("sqlite:///{}/none.db", False),
        ("http://127.0.0.1:1", True),
        ("databricks", True),
    ],
)
def test_a_store_that_does_not_exist_is_not_made_by_asking(tmp_path: Path, uri: str, is_there: bool) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "m.db").touch()
    assert asked._is_there(uri.format(tmp_path)) is is_there


def test_mlflow_itself_remembers_what_the_keys_holder_wrote_anew(
    whole: World, tracked: Tracked, tracker_python: Path, tmp_path: Path
) -> None:
    there, place = tracked.there, tmp_path / "mlruns"
    told = {**os.environ, "PATH": f"{tracker_python.parent}{os.pathsep}{os.environ['PATH']}"}
    mine = announced({**told, "TRACKED": place.as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true"}, RUN)
    command = (str(tracker_python), str(HERE / "tracked.py"), "train", "return", "with")
    subprocess.run(command, env=mine, cwd=tmp_path, capture_output=True, check=True)
    notary = with_(there.notary, tracker=Tracker(root=there.root, uri=place.as_uri(), environment=told))
    assert notary.corrected(there.folder) == ()
    found = {one.what: one for one in notary.verify(there.folder).examined}
    assert found[WHAT].standing is Standing.HOLDS, found[WHAT]
    write(there.folder, "as it never was")
    for name in ("manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink()
    assert there.notary.sealed(there.folder) == ()
    found = {one.what: one for one in notary.verify(there.folder).examined}
    assert found["signature"].standing is Standing.HOLDS, "the key's holder signs what he likes"
    assert found[WHAT].standing is Standing.BROKEN
    assert str(seal.parse_head(tracked.head().encode()).manifest) in found[WHAT].said  # type: ignore[union-attr]
