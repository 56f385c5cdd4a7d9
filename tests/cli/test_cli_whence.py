"""The way back from a checkpoint: real trainings save models, and each is found again wherever it lies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import Desk, desk

from affidavit.fact.folder import MARK

SCRIPTS = Path(__file__).parents[1] / "harmless/scripts"
TRAININGS = {"rotates": ("rotates",), "others": ("adapts", "loops", "fits")}
"""What each run of the script trains, one after the other."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project in which a Trainer rotated, an adapter was merged, a loop used torch.save, and Lightning fitted."""
    found = desk(tmp_path_factory.mktemp("whence") / "project")
    for name in ("saved.py", "witnessed.py"):
        shutil.copy(SCRIPTS / name, found.root)
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (("add", "."), (*author, "commit", "--quiet", "-m", "Trainings")):
        subprocess.run(["git", *words], cwd=found.root, check=True)
    quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    for training, words in TRAININGS.items():
        ended = found.start("run", "--", sys.executable, "saved.py", *words, **quiet)
        assert ended.returncode == 0, ended.stderr[-3000:]
        (found.runs[training],) = {*found.run_ids} - {*found.runs.values()}
    return found


def _whence(at: Desk, path: Path | str) -> tuple[int, dict[str, Any]]:
    ended = at.type("whence", str(path), "--json")
    return ended.exit_code, json.loads(ended.stdout)


@pytest.mark.parametrize(
    ("path", "training", "step"),
    [
        ("rotated/checkpoint-6", "rotates", 6),
        ("rotated/checkpoint-8", "rotates", 8),
        ("final", "rotates", 8),
        ("adapted/checkpoint-2", "others", 2),
        ("adapter", "others", 2),
        ("merged", "others", 2),
        ("last.pt", "others", 4),
        ("fitted/epoch=0-step=2.ckpt", "others", 2),
    ],
)
@pytest.mark.parametrize("how", ["where it was saved", "copied without its mark"])
def test_a_model_is_found_wherever_it_lies(
    saved: Desk, tmp_path: Path, path: str, training: str, step: int, how: str
) -> None:
    place = saved.root / path
    if how != "where it was saved" and place.is_dir():
        place = shutil.copytree(place, tmp_path / "elsewhere")
        (place / MARK).unlink()
    elif how != "where it was saved":
        place = shutil.copy(place, tmp_path / "elsewhere.pt")
    code, said = _whence(saved, place)
    assert (code, said["verdict"], said["run"]) == (0, "intact", saved.runs[training])
    assert said["place"]["step"] == step
    assert {one["state"] for one in said["files"]} == {"as written"}


def test_the_marks_beside_what_was_saved_witness_the_record(saved: Desk, tmp_path: Path) -> None:
    run = saved.runs["rotates"]
    (said,) = [one for one in saved.document("verify", run)["checked"] if one["what"] == "model mark"]
    assert said["standing"] == "holds" and "run, recipe, step and commit agree" in said["said"]
    copied = desk(tmp_path / "copy")
    shutil.copytree(saved.root, copied.root, dirs_exist_ok=True)
    mark = copied.root / "final" / "affidavit.json"
    mark.write_text(mark.read_text().replace('"commit": "', '"commit": "0'))
    (said,) = [one for one in copied.document("verify", run)["checked"] if one["what"] == "model mark"]
    assert said["standing"] == "contradicts" and "final/affidavit.json says commit 0" in said["said"]


def test_it_says_the_run_its_commit_its_verdicts_and_what_to_type_next(saved: Desk) -> None:
    ended = saved.type("whence", "final")
    run = saved.runs["rotates"]
    assert ended.exit_code == 0
    for said in (
        "✓ final: 4 of 4 files as written",
        f"run         {run} · FINISHED, step 8",
        "written     step 8, 20",
        "recipe      saved",
        "all that ran is in it",
        "verdicts    ",
        f"next        affidavit show {run}",
    ):
        assert said in ended.stdout


def test_what_was_changed_since_is_named(saved: Desk, tmp_path: Path) -> None:
    copy = shutil.copytree(saved.root / "final", tmp_path / "copy")
    config = copy / "config.json"
    config.write_text(config.read_text() + "\n")
    code, said = _whence(saved, copy)
    assert (code, said["verdict"]) == (1, "changed")
    assert [one["name"] for one in said["files"] if one["state"] == "changed since"] == ["config.json"]


def test_weights_that_were_edited_in_their_place_are_named(saved: Desk) -> None:
    weights = saved.root / "adapter/adapter_model.safetensors"
    before = weights.read_bytes()
    try:
        weights.write_bytes(before[:-1] + b"x")
        code, said = _whence(saved, "adapter")
        ended = saved.type("whence", "adapter")
    finally:
        weights.write_bytes(before)
    assert (code, said["verdict"], said["run"]) == (1, "changed", saved.runs["others"])
    assert "adapter_model.safetensors was changed since" in ended.stdout


def test_a_mark_beside_the_weights_of_another_run_is_called_out(saved: Desk, tmp_path: Path) -> None:
    copy = shutil.copytree(saved.root / "final", tmp_path / "copy")
    shutil.copy(saved.root / "merged" / MARK, copy)
    code, said = _whence(saved, copy)
    assert (code, said["verdict"], said["run"]) == (1, "contradicted", saved.runs["rotates"])
    ended = saved.type("whence", str(copy))
    assert "affidavit.json is not about these files" in " ".join(ended.stdout.split())


def test_a_mark_of_another_step_is_called_out(saved: Desk, tmp_path: Path) -> None:
    copy = shutil.copytree(saved.root / "rotated/checkpoint-6", tmp_path / "copy")
    shutil.copy(saved.root / "rotated/checkpoint-8" / MARK, copy)
    code, said = _whence(saved, copy)
    assert (code, said["verdict"], said["place"]["step"]) == (1, "contradicted", 6)


def test_a_copy_with_its_mark_is_the_place_that_the_mark_names(saved: Desk, tmp_path: Path) -> None:
    """The same weights lie in the last checkpoint, in the final folder and in the one that was uploaded."""
    copy = shutil.copytree(saved.root / "final", tmp_path / "copy")
    code, said = _whence(saved, copy)
    assert (code, said["place"]["path"]) == (0, "final")


def test_a_mark_beside_weights_that_no_run_wrote_is_called_out(saved: Desk, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(saved.root / "merged" / MARK, copy)
    (copy / "model.safetensors").write_bytes(b"other weights")
    code, said = _whence(saved, copy)
    assert (code, said["verdict"]) == (1, "contradicted")


def test_a_checkpoint_of_another_project_is_told_by_its_own_word(saved: Desk, tmp_path: Path) -> None:
    other = desk(tmp_path / "other")
    code, said = _whence(other, saved.root / "merged")
    assert (code, said["verdict"], said["run"]) == (4, "claimed", "")
    assert said["mark"]["run"] == saved.runs["others"] and said["mark"]["tree"] == "as committed"
    assert "it claims" in other.type("whence", str(saved.root / "merged")).stdout


def test_what_nobody_wrote_is_said_to_be_nobodys(saved: Desk, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"somebody's")
    ended = saved.type("whence", str(tmp_path))
    assert ended.exit_code == 4
    assert "no run of this project wrote it" in " ".join(ended.stdout.split())


def test_what_is_gone_from_the_record_is_not_called_intact(saved: Desk, tmp_path: Path) -> None:
    """A checkpoint that was copied away before the run rotated it: its mark is all there is."""
    mark = json.loads((saved.root / "merged" / MARK).read_text()) | {"run": saved.runs["rotates"], "step": 2}
    (tmp_path / MARK).write_text(json.dumps(mark))
    (tmp_path / "model.safetensors").write_bytes(b"perhaps")
    code, said = _whence(saved, tmp_path)
    assert (code, said["verdict"]) == (4, "uncompared")
    assert said["why"] == "it was gone when the run was sealed"


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1}', '{"run": 3, "format": 1}', "{" * 5000, "\0"])
def test_a_mark_that_is_none_is_no_mark(saved: Desk, tmp_path: Path, content: str) -> None:
    (tmp_path / MARK).write_text(content)
    (tmp_path / "model.safetensors").write_bytes(b"somebody's")
    assert _whence(saved, tmp_path)[1]["verdict"] == "unknown"


@pytest.mark.parametrize("path", ["nothing", "."])
def test_where_there_is_no_model_nothing_is_found_out(saved: Desk, tmp_path: Path, path: str) -> None:
    ended = saved.type("whence", str(tmp_path / path))
    assert ended.exit_code == 2
    assert "expected a folder that holds a model" in " ".join(ended.stderr.split())


def test_what_falls_comes_first_and_is_an_exit_code(saved: Desk, tmp_path: Path) -> None:
    copied = desk(tmp_path / "copy")
    shutil.copytree(saved.root / ".affidavit", copied.root / ".affidavit", dirs_exist_ok=True)
    run = saved.runs["others"]
    falls = ("--falls", "optimizer.*", "--survives", "adapter.*", "--reason", "the wrong rate", "--author", "Ada")
    assert copied.type("annotate", run, *falls).exit_code == 0
    ended = copied.type("whence", str(saved.root / "merged"))
    assert ended.exit_code == 1
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("erratum #1 (Ada, ") and "the wrong rate" in lines[0]
    assert lines[1].split() == ["falls", "optimizer.*"] and lines[2].split() == ["survives", "adapter.*"]
    assert lines[3].split()[:2] == ["not", "reviewed"]
    assert next(text for text in lines if not text.startswith("  ") and "erratum" not in text).startswith("✓ ")
    assert "FALLS" not in ended.stdout, "nothing that is told here fell"
    words = ("--falls", "code.listing", "--survives", "tree.commit", "--why", "listed elsewhere", "--author", "Ada")
    assert copied.type("annotate", run, *words).exit_code == 0
    told = " ".join(copied.type("whence", str(saved.root / "merged")).stdout.split())
    assert "FALLS since #2" in told.partition(" commit ")[2].partition(" verdicts ")[0]
