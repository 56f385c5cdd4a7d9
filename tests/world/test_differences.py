"""Two real runs that differ in one setting differ in one paragraph; a sweep over what is asked for moves no lock."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from server import Server
from worlds import WORDS

from affidavit.attach.launch import Launch
from affidavit.fact import folder as names
from affidavit.fact.journal import read
from affidavit.record.lock import accepted, write_lock
from affidavit.record.merge import merge
from affidavit.record.record import Kind, Record
from affidavit.report.difference import compare, lines
from affidavit.report.terminal import Tone

SCRIPT = Path(__file__).parent / "differences/sft.py"
TODAY = datetime.date(2026, 11, 30)
DEFAULTS: Mapping[str, tuple[dict[str, object], list[str]]] = {
    "nothing": ({}, []),
    "attention": (
        {"model_init_kwargs": {"attn_implementation": "eager"}},
        ["attention is configured as sdpa in 4 places (A) / eager in 4 places (B)"],
    ),
    "autocast": ({"bf16": False}, ["matrix products ran in bfloat16 (A) / float32 (B)"]),
    "weights": (
        {"model_init_kwargs": {"dtype": "bfloat16"}},
        ["the weights are held in float32 (A) / bfloat16 (B)"],
    ),
    "checkpointing": (
        {"activation_checkpointing": False},
        ["gradient checkpointing is on (A) / no gradient checkpointing (B)"],
    ),
    "optimizer": ({"optim": "sgd"}, ["the optimizer is AdamW (A) / SGD (B)"]),
    "decay": ({"weight_decay": 0.1}, ["the weight decay is 0.0 (A) / 0.1 (B)"]),
    "schedule": (
        {"lr_scheduler_type": "cosine"},
        ["the learning rate follows the schedule linear (A) / cosine (B)"],
    ),
    "warm-up": ({"warmup_steps": 2}, ["the warm-up takes 0 (A) / 2 (B) moves"]),
    "roles": (
        {"assistant_only_loss": True},
        ["the loss is on tokens of assistant, template, user (A) / assistant (B)"],
    ),
    "rows": ({"per_device_train_batch_size": 4}, ["a micro-batch has 8 (A) / 4 (B) rows"]),
    "accumulation": (
        {"gradient_accumulation_steps": 2},
        ["an optimizer step adds up 1 (A) / 2 (B) micro-batches"],
    ),
    "adapter": ({"lora_r": 4}, ["no adapter (A) / the adapter is lora (B)"]),
    "seed": ({"seed": 7}, []),
    # No fact says that rows are packed; what it makes of the plan is seen.
    "packing": ({"packing": True, "max_length": 64}, ["the planned steps come to 0.5 (A) / 0.666667 (B) epochs"]),
}
"""One thing asked for against a run that asks for nothing, and what is said of it."""


@dataclass(frozen=True)
class Bench:
    """Runs the script with what it is to ask for."""

    server: Server
    root: Path

    def run(self, **said: object) -> Record:
        folder = self.root / f"run.{len(list(self.root.iterdir()))}"
        folder.mkdir()
        launch = names.launch(folder, 0)
        Launch(run="world", folder=str(folder), spool=str(folder)).write(launch)
        words = {"SAID": json.dumps(said)}
        ended = self.server.run(SCRIPT, (str(folder / "output"),), launch=launch, environment=words)
        assert ended.returncode == 0, ended.stderr
        readings = [read(path) for path in names.journals(folder)]
        return merge(readings, kind=Kind.RUN, subject=folder.name, vocabulary=WORDS)


@pytest.fixture(scope="module")
def bench(world_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(world_server, tmp_path_factory.mktemp("differences"))


@pytest.fixture(scope="module")
def plain(bench: Bench) -> Record:
    return bench.run()


@pytest.mark.parametrize("name", DEFAULTS)
def test_one_setting_is_one_paragraph(bench: Bench, plain: Record, name: str) -> None:
    asked, expected = DEFAULTS[name]
    drawn = list(lines(compare(plain, bench.run(**asked))))
    paragraphs = [line for line in drawn[1:] if line.body[0].tone is Tone.STRONG]
    assert [line.body[0].text for line in paragraphs] == expected
    if name not in ("adapter", "packing"):  # who passes an adapter decides it; no request is heard of packing
        assert all("asked for by" in line.body[1].text for line in paragraphs)


def test_a_sweep_over_what_is_asked_for_moves_no_lock(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    held, swept = (
        accepted(bench.run(learning_rate=rate, per_device_train_batch_size=rows, seed=seed, lora_r=rank))
        for rate, rows, seed, rank in ((1e-3, 4, 1, 4), (2e-3, 2, 2, 8))
    )
    assert write_lock(path, "sft", held, vocabulary=WORDS, as_of=TODAY)
    before = path.read_bytes()
    assert write_lock(path, "sft", swept, vocabulary=WORDS, as_of=TODAY) == ()
    assert path.read_bytes() == before
