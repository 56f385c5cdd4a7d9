"""Whatever an adapter binds keeps its signature and its source: scripts filter keywords by the one, patch by the other.

No list of bound functions is kept here. Every function and class of the modules below is asked, bare and attached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import SCRIPTS, Server

from affidavit.fact import folder as names

PROBE = """
import hashlib, importlib, inspect, json, re, sys

MODULES = (
    "torch.nn.modules.module", "torch.optim.optimizer", "torch.optim.adamw",
    "transformers.trainer", "transformers.training_args", "transformers.modeling_utils",
    "transformers.tokenization_utils_base", "transformers.trainer_callback",
    "trl.trainer.sft_trainer", "trl.trainer.sft_config",
    "peft.mapping_func", "peft.peft_model", "datasets.arrow_dataset", "safetensors.torch", "torch.serialization",
    "accelerate.accelerator", "lightning.pytorch.trainer.trainer",
)

def members(module):
    for name, item in vars(module).items():
        if inspect.isclass(item) and item.__module__ == module.__name__:
            yield name, item
            yield from ((f"{name}.{inner}", getattr(item, inner)) for inner in vars(item))
        elif inspect.isfunction(item) and item.__module__ == module.__name__:
            yield name, item

def look(item):
    try:
        source = hashlib.sha256(inspect.getsource(item).encode()).hexdigest()[:12]
    except (OSError, TypeError):
        source = ""
    try:
        return [re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(item))), source]
    except (ValueError, TypeError):
        return ["", source]

{bend}
seen = {
    f"{module}.{name}": look(item)
    for module in MODULES
    for name, item in members(importlib.import_module(module))
    if callable(item)
}
json.dump(seen, open(sys.argv[1], "w"))
"""
BEND = """
trainer = importlib.import_module("transformers.trainer").Trainer
train = trainer.train
trainer.train = lambda self, *args, **kwargs: train(self, *args, **kwargs)
"""

Seen = dict[str, list[str]]


def _attached(server: Server, folder: Path, bend: str = "") -> Seen:
    folder.mkdir()
    launch = names.launch(folder, 0)
    launch.write_text(json.dumps({"run": "r", "folder": str(folder), "spool": str(folder), "format": 1}))
    (folder / "probe.py").write_text(PROBE.replace("{bend}", bend))
    ended = server.run(folder / "probe.py", (str(folder / "seen.json"),), launch=launch)
    assert ended.returncode == 0, ended.stderr
    return json.loads((folder / "seen.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "probe.py").write_text(PROBE.replace("{bend}", ""))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFFIDAVIT")}
    environment["PYTHONPATH"] = str(SCRIPTS)
    command = [sys.executable, str(folder / "probe.py"), str(folder / "seen.json")]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    return json.loads((folder / "seen.json").read_text())  # type: ignore[no-any-return]


def _changed(bare: Seen, attached: Seen) -> list[str]:
    return sorted(name for name in {*bare, *attached} if bare.get(name) != attached.get(name))


def test_signatures_and_sources_are_what_they_were(bare: Seen, world_server: Server, tmp_path: Path) -> None:
    assert len(bare) > 500
    assert _changed(bare, _attached(world_server, tmp_path / "attached")) == []


def test_a_bound_function_that_hides_its_signature_is_seen(bare: Seen, world_server: Server, tmp_path: Path) -> None:
    assert _changed(bare, _attached(world_server, tmp_path / "bent", BEND)) == ["transformers.trainer.Trainer.train"]
