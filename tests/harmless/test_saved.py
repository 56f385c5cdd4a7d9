"""Models are saved, rotated, resumed and uploaded as without us; a mark lies beside each folder, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from twice import Ran, Runner, script

from affidavit.fact.folder import MARK
from affidavit.fact.journal import Save

FOLDERS = {
    "rotated",
    "rotated/checkpoint-6",
    "rotated/checkpoint-8",
    "final",
    "adapted/checkpoint-2",
    "adapter",
    "merged",
    "state",
    "accelerated",
}
SAVERS = ("rotates", "adapts", "loops", "accelerates", "fits")
TIMED = ("trainer_state.json", ".ckpt")
"""What holds how long something took."""


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("saved.py")), runner.observed(script("saved.py"))


@pytest.fixture(scope="module")
def saves(runs: tuple[Ran, Ran]) -> dict[str, Save]:
    """The last save of each place, by its path in the folder of the run."""
    observed = runs[1]
    return {str(Path(save.path).relative_to(observed.out)): save for save in observed.journal.saves}


def _said(ran: Ran, saver: str) -> dict[str, Any]:
    found = ran.said[saver]
    assert isinstance(found, dict)
    return {name: value for name, value in found.items() if name != "sent"}


@pytest.mark.parametrize("saver", SAVERS)
def test_a_saver_does_the_same(runs: tuple[Ran, Ran], saver: str) -> None:
    bare, observed = (_said(run, saver) for run in runs)
    assert observed == bare


def test_beside_each_saved_folder_lies_a_mark_and_nothing_else(runs: tuple[Ran, Ran]) -> None:
    bare, observed = (run.files() for run in runs)
    assert observed.keys() - bare.keys() == {f"{folder}/{MARK}" for folder in FOLDERS}
    assert bare.keys() <= observed.keys()
    assert [name for name in bare if not name.endswith(TIMED) and bare[name] != observed[name]] == []


def test_a_mark_says_which_run_and_which_step(runs: tuple[Ran, Ran]) -> None:
    said = {folder: json.loads(runs[1].files()[f"{folder}/{MARK}"]) for folder in FOLDERS}
    assert {mark["run"] for mark in said.values()} == {"t"}
    assert {folder: mark["step"] for folder, mark in said.items()} == {
        "rotated": 8,
        "rotated/checkpoint-6": 6,
        "rotated/checkpoint-8": 8,
        "final": 8,
        "adapted/checkpoint-2": 2,
        "adapter": 2,
        "merged": 2,
        "state": 3,
        "accelerated": 3,
    }


def test_an_upload_takes_the_mark_along_once_the_folder_has_one(runs: tuple[Ran, Ran]) -> None:
    bare, observed = (run.said["rotates"]["sent"] for run in runs)  # type: ignore[index]
    assert [[name for name in sent if name != MARK] for sent in observed] == bare
    assert MARK not in observed[0] and MARK in observed[-1]


def test_what_was_saved_is_written_down_also_after_the_loop(saves: dict[str, Save]) -> None:
    assert saves.keys() >= FOLDERS
    assert {saves[name].form for name in ("last.pt", "last.safetensors", "fitted/end.ckpt")} == {"file"}
    assert {name: saves[name].form for name in ("adapter", "merged", "rotated/checkpoint-2", "state")} == {
        "adapter": "adapter",
        "merged": "pretrained",
        "rotated/checkpoint-2": "checkpoint",
        "state": "state",
    }
    assert not any(name.startswith("opened") for name in saves)
    assert saves["last.pt"].step == 4 and saves["fitted/epoch=0-step=2.ckpt"].step == 2


def test_a_folder_is_told_once_and_not_each_file_of_it(saves: dict[str, Save]) -> None:
    assert not any(name.startswith(("adapter/", "merged/", "state/")) for name in saves)


def test_a_final_save_is_no_checkpoint_of_the_loop(runs: tuple[Ran, Ran]) -> None:
    assert runs[1].known("loop.saves", 0) == 3
    assert runs[1].known("loop.saves", 2) == 1


def test_marks_can_be_switched_off(runner: Runner, runs: tuple[Ran, Ran]) -> None:
    ran = runner.observed(script("saved.py"), "adapts", launch={"marks": False})
    assert ran.returncode == 0, ran.stderr
    assert not [name for name in ran.files() if name.endswith(MARK)]
    assert {save.mark for save in ran.journal.saves} == {"switched off"}


SAVES_ONLY = """
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM
sizes = dict(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1)
LlamaForCausalLM(LlamaConfig(**sizes)).save_pretrained("model")
torch.save({}, "a.pt")
save_file({"a": torch.ones(1)}, "a.safetensors")
"""


def test_a_process_that_never_trained_writes_nothing(fresh_runner: Runner) -> None:
    ran = fresh_runner.observed("-c", SAVES_ONLY)
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.files()) == [
        "a.pt",
        "a.safetensors",
        "model/config.json",
        "model/generation_config.json",
        "model/model.safetensors",
    ]
    assert ran.journals == ()


REFUSING = {
    "theirs": "(home / 'affidavit.json').write_text('{\"mine\": 1}')",
    "linked": "(home / 'affidavit.json').symlink_to('/etc/hostname')",
    "folder": "(home / 'affidavit.json').mkdir()",
    "project": "(home / 'pyproject.toml').touch()",
    "here": "os.chdir(home)",
    "plain": "os.chdir(home.parent)",
}
BESIDE = """
import os, pathlib, torch
from transformers import LlamaConfig, LlamaForCausalLM
sizes = dict(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1)
model = LlamaForCausalLM(LlamaConfig(**sizes))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(input_ids=torch.ones(1, 2, dtype=torch.long), labels=torch.ones(1, 2, dtype=torch.long)).loss.backward()
    optimizer.step()
for name, prepare in {refusing}.items():
    home = pathlib.Path(name).absolute()
    home.mkdir()
    exec(prepare)
    model.save_pretrained(home)
"""


def test_a_mark_never_takes_the_place_of_anything(fresh_runner: Runner) -> None:
    ran = fresh_runner.observed("-c", BESIDE.replace("{refusing}", repr(REFUSING)))
    assert ran.returncode == 0, ran.stderr
    assert {Path(save.path).name: save.mark for save in ran.journal.saves} == {
        "theirs": "affidavit.json is somebody else's",
        "linked": "OSError",
        "folder": "IsADirectoryError",
        "project": "a project's folder",
        "here": "the working directory",
        "plain": "left",
    }
    assert ran.files()["theirs/affidavit.json"] == b'{"mine": 1}'
    assert not list(ran.out.rglob(".affidavit*"))
