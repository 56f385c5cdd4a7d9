"""What a run saved is looked at once, when it is sealed: what is there, what is gone, and what nobody may vouch for."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from affidavit.attach.instrument import process_identity
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.values import Table, Tally
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.artifact import files, places, subjects
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.run import artifacts
from affidavit.run.artifacts import SAMPLE_BYTES, SAMPLED, WHOLE_BYTES, artifact_facts, digest, is_weight
from affidavit.run.gathered import Gathered, gather

SILENCE = Unknown(Cause.NOTHING_ATTACHED, "nobody was there")
NOW = time.time()


def _gathered(folder: Path, saves: Sequence[Mapping[str, Any]]) -> Gathered:
    """Return a run whose one process said that it saved these."""
    run = folder / "run"
    run.mkdir(exist_ok=True)
    path = names.journal(run, process_identity(), 0)
    journal = Journal(path, process=process_identity(), details={"attempt": 0, "emits": []})
    journal.write("bound", rank=0, world=1, backend="")
    for save in saves:
        journal.write("saved", **{"step": 1, "began": NOW - 1, "ended": NOW, "mark": "left", **save})
    journal.close("exited")
    return gather(run)


def _facts(folder: Path, *saves: Mapping[str, Any], **how: Any) -> Record:
    told = _gathered(folder, saves)
    facts = artifact_facts(told, project=folder, silence=SILENCE, **{"ended": NOW, **how})
    return Record(kind=Kind.RUN, subject="r", facts=ordered(facts), vocabulary=load_vocabulary())


def _write(path: Path, content: bytes = b"weights", *, touched: float = NOW) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (touched, touched))
    return path


def _fact(record: Record, name: str) -> Fact:
    (one,) = record.find(name)
    return one


def _counts(record: Record) -> dict[str, int]:
    state = _fact(record, "artifact.files_by_state").state
    assert isinstance(state, Known) and isinstance(state.value, Tally)
    return {kind: count for kind, count in state.value.counts if count}


def test_a_checkpoint_is_all_that_lies_in_it_but_our_own(tmp_path: Path) -> None:
    inside = ("model.safetensors", "config.json", "global_step1/rank0.pt", "affidavit.json", ".cache")
    for name in inside:
        _write(tmp_path / "out/checkpoint-1" / name, name.encode())
    record = _facts(tmp_path, {"path": str(tmp_path / "out/checkpoint-1"), "form": "checkpoint"})
    assert [one.path.removeprefix("out/checkpoint-1/") for one in files(record)] == [
        "global_step1/rank0.pt",
        "model.safetensors",
        "config.json",
    ]
    assert subjects(record)[1].sha256 == hashlib.sha256(b"model.safetensors").hexdigest()


def test_a_folder_that_somebody_chose_holds_other_things_as_well(tmp_path: Path) -> None:
    """Saved with save_pretrained("."): the model's files are those that were touched since."""
    for name in ("model.safetensors", "config.json", "default/adapter_config.json", "run.log", "sub/table.json"):
        _write(tmp_path / name)
    _write(tmp_path / "settings.json", touched=NOW - 60)
    record = _facts(tmp_path, {"path": str(tmp_path), "form": "pretrained"})
    assert {one.path for one in files(record)} == {"model.safetensors", "config.json", "default/adapter_config.json"}


def test_what_is_inside_of_a_saved_folder_is_no_place_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-1"
    _write(folder / "optimizer.pt")
    _write(tmp_path / "last.pt")
    record = _facts(
        tmp_path,
        {"path": str(folder), "form": "pretrained"},
        {"path": str(folder / "optimizer.pt"), "form": "file"},
        {"path": str(folder), "form": "checkpoint"},
        {"path": str(tmp_path / "last.pt"), "form": "file"},
        {"path": str(folder), "form": "pretrained"},
    )
    assert [(one.path, one.form) for one in places(record)] == [("checkpoint-1", "checkpoint"), ("last.pt", "file")]


def test_what_was_rotated_away_is_known_as_written_and_gone(tmp_path: Path) -> None:
    _write(tmp_path / "checkpoint-2/model.safetensors")
    record = _facts(
        tmp_path,
        {"path": str(tmp_path / "checkpoint-1"), "form": "checkpoint"},
        {"path": str(tmp_path / "checkpoint-2"), "form": "checkpoint", "step": 2},
        {"path": "s3://bucket/model", "form": "file", "step": 2},
    )
    assert [(one.path, one.state) for one in places(record)] == [
        ("s3://bucket/model", "elsewhere"),
        ("checkpoint-2", "there"),
        ("checkpoint-1", "gone"),
    ]


def test_what_cannot_be_seen_from_here_is_not_called_gone(tmp_path: Path) -> None:
    told = _gathered(tmp_path, [{"path": str(tmp_path / "checkpoint-1"), "form": "checkpoint"}])
    away = replace(told, trainers=tuple(replace(one, host="another") for one in told.trainers))
    facts = artifact_facts(away, project=tmp_path, ended=NOW, silence=SILENCE)
    record = Record(kind=Kind.RUN, subject="r", facts=facts, vocabulary=load_vocabulary())
    assert places(record)[0].state.startswith("not seen from ")


def test_what_was_touched_after_the_run_is_not_what_it_wrote(tmp_path: Path) -> None:
    _write(tmp_path / "a.pt")
    _write(tmp_path / "b.pt", touched=NOW + 3600)
    record = _facts(tmp_path, *({"path": str(tmp_path / name), "form": "file"} for name in ("a.pt", "b.pt")))
    assert [one.path for one in files(record)] == ["a.pt"]
    assert _counts(record) == {"digested whole": 1, "touched after the run": 1}


def test_a_save_that_takes_long_is_still_the_runs(tmp_path: Path) -> None:
    """The last beat of a run whose supervisor died is older than the model that it saved at last."""
    _write(tmp_path / "a.pt")
    record = _facts(tmp_path, {"path": str(tmp_path / "a.pt"), "form": "file"}, ended=NOW - 3600)
    assert len(files(record)) == 1


def test_a_large_file_is_sampled_under_a_name_that_says_so(tmp_path: Path) -> None:
    large = tmp_path / "large.safetensors"
    with large.open("wb") as file:
        file.truncate(WHOLE_BYTES + 3)
    before = digest(large)
    assert before.startswith(f"{SAMPLED}:")
    with large.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    assert digest(large) != before, "the end is among the samples"
    with large.open("ab") as file:
        file.write(bytes(SAMPLE_BYTES))
    assert digest(large) != before
    record = _facts(tmp_path, {"path": str(large), "form": "file"}, ended=time.time())
    assert len(files(record)) == 1 and subjects(record) == ()


def test_digesting_ends_in_time(tmp_path: Path) -> None:
    for number in range(4):
        _write(tmp_path / f"{number}.pt")
    seconds = iter(range(100))
    saves = [{"path": str(tmp_path / f"{number}.pt"), "form": "file"} for number in range(4)]
    record = _facts(tmp_path, *saves, clock=lambda: float(next(seconds)))
    assert _counts(record) == {"digested whole": 2, "out of time": 2}


def test_without_a_moment_to_read_nothing_is_known(tmp_path: Path) -> None:
    _write(tmp_path / "a.pt")
    passed = iter([0.0, 10.0])
    record = _facts(tmp_path, {"path": str(tmp_path / "a.pt"), "form": "file"}, clock=lambda: next(passed))
    state = _fact(record, "artifact.files").state
    assert isinstance(state, Unknown) and state.cause is Cause.TIME_LIMIT


def test_the_list_has_an_end_and_the_newest_weights_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "ROWS", 2)
    monkeypatch.setattr(artifacts, "PLACES", 1)
    for step in (1, 2):
        for name in ("a.json", "model.safetensors"):
            _write(tmp_path / f"checkpoint-{step}" / name)
    saves = ({"path": str(tmp_path / f"checkpoint-{step}"), "form": "checkpoint", "step": step} for step in (1, 2))
    record = _facts(tmp_path, *saves)
    assert [one.path for one in files(record)] == ["checkpoint-2/model.safetensors", "checkpoint-2/a.json"]
    assert _counts(record) == {"digested whole": 4, "beyond the list": 2}
    assert [one.path for one in places(record)] == ["checkpoint-2", "and 1 more"]


def test_a_run_that_saved_nothing_says_so(tmp_path: Path) -> None:
    record = _facts(tmp_path)
    state = _fact(record, "artifact.files").state
    assert isinstance(state, Known) and isinstance(state.value, Table) and not state.value.rows


def test_a_run_that_nobody_saw_knows_nothing_of_its_models(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    facts = artifact_facts(gather(tmp_path / "run"), project=tmp_path, ended=NOW, silence=SILENCE)
    assert {fact.state for fact in facts} == {SILENCE}


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-1"
    secret = _write(tmp_path / "secret.json")
    folder.mkdir()
    (folder / "model.json").symlink_to(secret)
    os.mkfifo(folder / "pipe.json")
    record = _facts(tmp_path, {"path": str(folder), "form": "checkpoint"})
    assert files(record) == ()
    with pytest.raises(OSError, match="no plain file"):
        digest(folder / "pipe.json")


@pytest.mark.parametrize(
    ("name", "weighs"),
    [
        ("model-00001-of-00030.safetensors", True),
        ("adapter_model.bin", True),
        ("last.ckpt", True),
        ("optimizer.pt", False),
        ("training_args.bin", False),
        ("rng_state_3.pth", False),
        ("config.json", False),
    ],
)
def test_weights_are_told_from_what_lies_beside_them(name: str, weighs: bool) -> None:
    assert is_weight(name) is weighs
