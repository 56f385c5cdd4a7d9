"""What an ordinary record says of a run: the files that a trainer leaves, read as a colleague would read them.

Nothing here is written down beforehand: each line is read from a file of that very run, from what its script printed,
or from the commit it was started at.
"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a run left behind: its project, the file it was started from, what it saved, and what it printed."""

    project: Path
    script: Path
    trained: Path
    printed: Path


def attention(left: Left) -> Iterator[str]:
    """Yield what script and saved configuration say of attention kernels."""
    named = [f"{name} = {value}" for name, value in _fields(left.trained / "config.json").items() if "attn_" in name]
    yield f"config.json: {', '.join(named) or 'names no attention kernel'}"
    written = re.search(r"attn_implementation=[^,)]+", left.script.read_text())
    yield f"{left.script.name}: {written[0] if written else 'names no attention kernel'}"
    yield _state(left)


def supervision(left: Left) -> Iterator[str]:
    """Yield what arguments and template say of whose tokens carry the loss."""
    yield _arguments(left, "assistant_only_loss")
    markers = (left.trained / "chat_template.jinja").read_text().count("{% generation %}")
    yield f"chat_template.jinja: {markers} generation marker"
    yield _state(left)


def end_of_turn(left: Left) -> Iterator[str]:
    """Yield what the tokenizer's files say of the token that ends a turn."""
    path = left.trained / "tokenizer_config.json"
    yield _named(path, "eos_token", "pad_token")
    end = str(_fields(path)["eos_token"])
    yield f"chat_template.jinja: writes {end} {(left.trained / 'chat_template.jinja').read_text().count(end)} times"
    yield _state(left)


def rows(left: Left) -> Iterator[str]:
    """Yield what the arguments say of the length of a row."""
    yield _arguments(left, "max_length")
    yield _state(left)


def columns(left: Left) -> Iterator[str]:
    """Yield what the arguments say of the columns of the rows."""
    yield _arguments(left, "remove_unused_columns")
    yield _state(left)


def adapter(left: Left) -> Iterator[str]:
    """Yield the names that the saved adapter claims to sit on."""
    yield _named(left.trained / "adapter_config.json", "target_modules")
    yield _state(left)


def optimizer(left: Left) -> Iterator[str]:
    """Yield what arguments and configuration say of what was trained, and with which steps."""
    yield _arguments(left, "optim", "learning_rate")
    yield _named(left.trained / "config.json", "num_hidden_layers")
    yield _state(left)


def schedule(left: Left) -> Iterator[str]:
    """Yield what the arguments say of the schedule, and the rates that the trainer wrote down."""
    yield _arguments(left, "lr_scheduler_type")
    rates = [entry["learning_rate"] for entry in _history(left) if "learning_rate" in entry]
    yield f"trainer_state.json: learning_rate {rates[0]:.2g} → {rates[-1]:.2g}"
    yield _state(left)


def restored(left: Left) -> Iterator[str]:
    """Yield what configuration and arguments say of where the weights come from."""
    yield _named(left.trained / "config.json", "model_type", "dtype")
    yield _arguments(left, "resume_from_checkpoint")
    yield _state(left)


def precision(left: Left) -> Iterator[str]:
    """Yield what arguments and configuration say of number types."""
    yield _arguments(left, "bf16", "fp16")
    yield _named(left.trained / "config.json", "dtype")
    yield _state(left)


def batch(left: Left) -> Iterator[str]:
    """Yield what the loop printed of its batches."""
    yield _printed(left, "chats a step")
    yield _printed(left, "loss ")


def dropout(left: Left) -> Iterator[str]:
    """Yield what the adapter's file says of dropout, and what the loop printed last."""
    yield _named(left.trained / "adapter_config.json", "lora_dropout")
    yield _printed(left, "validation")
    yield _printed(left, "loss ")


def code(left: Left) -> Iterator[str]:
    """Yield the commit that a tracker writes down."""
    asked = ["git", "-C", str(left.project), "rev-parse", "--short=12", "HEAD"]
    yield f"commit {subprocess.run(asked, capture_output=True, check=True, text=True).stdout.strip()}"
    yield _state(left)


def _state(left: Left) -> str:
    losses = [entry["loss"] for entry in _history(left) if "loss" in entry]
    return f"trainer_state.json: loss {losses[0]:.3f} → {losses[-1]:.3f}"


def _history(left: Left) -> list[dict[str, float]]:
    history: list[dict[str, float]] = json.loads((left.trained / "trainer_state.json").read_text())["log_history"]
    return history


def _fields(path: Path) -> dict[str, object]:
    fields: dict[str, object] = json.loads(path.read_text())
    return fields


def _named(path: Path, *names: str) -> str:
    return _said(path, _fields(path), names)


def _arguments(left: Left, *names: str) -> str:
    path = left.trained / "training_args.bin"
    return _said(path, arguments(path), names)


def _said(path: Path, fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    said = (f"{name} = {_written(fields[name])}" if name in fields else f"no {name}" for name in names)
    return f"{path.name}: {', '.join(said)}"


def _written(value: object) -> str:
    if isinstance(value, _Recorded):  # a member of an enumeration: what it was made from is its value
        value = value.state
    return ", ".join(map(str, sorted(value))) if isinstance(value, list | tuple) else str(value)


def _printed(left: Left, words: str) -> str:
    """Return the last line that the script printed with these words in it."""
    lines = [line for line in left.printed.read_text(errors="replace").splitlines() if words in line]
    return f"printed: {lines[-1]}" if lines else f'printed: no line with "{words.strip()}"'


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
