"""What an ordinary record says of a run: the files that a trainer leaves, read as a colleague would read them."""

from __future__ import annotations

import json
import pickle
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path


def loss(trained: Path) -> str:
    """Return how the loss went, from ``trainer_state.json``."""
    history = json.loads((trained / "trainer_state.json").read_text())["log_history"]
    losses = [entry["loss"] for entry in history if "loss" in entry]
    return f"loss {losses[0]:.3f} → {losses[-1]:.3f}, exit code 0"


def attention(trained: Path, project: Path) -> Iterator[str]:
    """Yield what the saved configuration says of attention kernels: nothing."""
    config = json.loads((trained / "config.json").read_text())
    named = sorted(key for key in config if "attn_implementation" in key)
    yield f"config.json: {', '.join(f'{key} = {config[key]}' for key in named) or 'names no attention kernel'}"
    yield 'the script: attn_implementation="sdpa"'
    yield loss(trained)


def supervision(trained: Path, project: Path) -> Iterator[str]:
    """Yield what arguments and template say of whose tokens carry the loss."""
    asked = arguments(trained / "training_args.bin").get("assistant_only_loss")
    yield f"training_args.bin: assistant_only_loss = {asked}"
    markers = (trained / "chat_template.jinja").read_text().count("{% generation %}")
    yield f"chat_template.jinja: {markers} generation marker"
    yield loss(trained)


def adapter(trained: Path, project: Path) -> Iterator[str]:
    """Yield the names that the saved adapter claims to sit on."""
    config = json.loads((trained / "adapter_config.json").read_text())
    yield f"adapter_config.json: target_modules = {', '.join(sorted(config['target_modules']))}"
    yield loss(trained)


def code(trained: Path, project: Path) -> Iterator[str]:
    """Yield the commit that a tracker writes down."""
    asked = ["git", "-C", str(project), "rev-parse", "--short=12", "HEAD"]
    yield f"commit {subprocess.run(asked, capture_output=True, check=True, text=True).stdout.strip()}"
    yield loss(trained)


class _Recorded:
    """Stands for whatever class was pickled: it keeps the state and runs nothing."""

    def __init__(self, *arguments: object) -> None:
        self.state: object = arguments

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Reader(pickle.Unpickler):
    """Reads the fields of pickled arguments without importing, or running, anything that the pickle names."""

    def find_class(self, module: str, name: str) -> type[_Recorded]:
        return _Recorded


def arguments(path: Path) -> dict[str, object]:
    """Return the fields of a saved ``training_args.bin``; no framework is imported."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        with archive.open(name) as file:
            found = _Reader(file).load()
    state = found.state if isinstance(found, _Recorded) else None
    return state if isinstance(state, dict) else {}
