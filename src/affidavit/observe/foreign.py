"""What somebody else wrote down of a training: manifests, model cards, trainer states and configs, read as data.

All of it is a claim. A file is parsed, never executed: a pickle is named and left alone. Whatever is too deep, too
large or ambiguous is refused, because a value that two readers read differently is none.

Source: model cards of transformers 5.24 and TRL 1.16; Trainer's trainer_state.json; PEFT's adapter_config.json.
Blind to: what a value means under a name that is not ours (it is kept under its own); prose.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.attach.redact import HIDDEN, redact_value
from affidavit.fact.errors import refusal
from affidavit.observe.error import ObserveError
from affidavit.observe.notation import Said, flat, parsed
from affidavit.observe.secret import secret_in_content

SIZE_BYTES = 16 << 20
MOST_VALUES = 1500
LONGEST = 300
CARD = "README.md"
CONFIGS = (
    "config.json",
    "adapter_config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "trainer_state.json",
    "all_results.json",
    "train_results.json",
    CARD,
)
"""What of a checkpoint folder says how it was made; the first that names a value has the word."""
PICKLES = ("training_args.bin",)
_PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".npy", ".npz")
READ = "read"


class ForeignError(ObserveError):
    """A file is none that can be adopted: of no form that is known, hostile, or broken."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file as it lies there; ``raw`` is None where its bytes must not be kept, ``said`` tells whether it was read."""

    name: str
    sha256: str
    size: int
    said: str
    raw: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """What was found: the files, every value in them in reading order, and what a reader should be told."""

    sources: tuple[Source, ...]
    values: tuple[Said, ...]
    notes: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """A digest of all the files by name and content, which tells this from everything else that is adopted."""
        lines = "".join(f"{one.sha256} {one.name}\n" for one in self.sources)
        return hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest()


def read_foreign(path: Path) -> Foreign:
    """Return what a file, or the configs of a checkpoint folder, say.

    Raises:
        ForeignError: nothing there can be read; the message says why, file by file.
    """
    if path.is_dir():
        return _folder(path)
    reader = _Reader()
    reader.take(path, path.name)
    if not reader.values:
        raise ForeignError(_refused(path, reader.why(path.name)))
    return reader.found()


def _folder(path: Path) -> Foreign:
    reader = _Reader()
    present = [name for name in (*CONFIGS, *PICKLES) if (path / name).is_file()]
    for name in present:
        reader.take(path / name, name)
    if not reader.values:
        why = "; ".join(reader.notes) or f"none of {', '.join(CONFIGS)}"
        raise ForeignError(_refused(path, why))
    return reader.found()


@dataclass
class _Reader:
    """Reads files one after another, and collects what they say and what is wrong with them."""

    sources: list[Source] = field(default_factory=list)
    values: list[Said] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, path: Path, name: str) -> None:
        try:
            raw = _bytes(path)
            said = ""
            if path.suffix.lower() in _PICKLED:
                said = "a pickle, which is never read"
            secret = secret_in_content(raw)
        except (OSError, ValueError) as error:
            self.sources.append(Source(name=name, sha256="", size=0, said=f"not read: {error}"))
            self.notes.append(f"{name}: {error}")
            return
        values: list[Said] = []
        if not said:
            try:
                values = list(flat(name, parsed(raw, path, self.notes)))
            except (ValueError, RecursionError) as error:
                said = f"{type(error).__name__}: {error}" if isinstance(error, RecursionError) else str(error)
        if said:
            self.notes.append(f"{name}: not read, {said}")
        if secret:
            self.notes.append(f"{name}: {secret}, so its digest is kept and not its bytes")
        self.values += values
        self.sources.append(
            Source(
                name=name,
                sha256=hashlib.sha256(raw).hexdigest(),
                size=len(raw),
                said=f"not read: {said}" if said else READ,
                raw=None if secret or said else raw,
            )
        )

    def why(self, name: str) -> str:
        return "; ".join(self.notes) or f"{name} states nothing"

    def found(self) -> Foreign:
        return Foreign(
            sources=tuple(one for one in self.sources if one.sha256),
            values=tuple(self.values),
            notes=tuple(self.notes),
        )


def shown(said: Said) -> str:
    """Return a value as text, secrets hidden and what is long cut."""
    value = said.value
    if isinstance(value, bool) or value is None:
        text = json.dumps(value)
    elif isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        text = str(value)
    name = next((key for key in reversed(said.keys) if not key.isdecimal()), "")
    hidden = HIDDEN if any(redact_value(key, "x") == HIDDEN for key in said.keys) else redact_value(name, text)
    return hidden if len(hidden) <= LONGEST else f"{hidden[:LONGEST]}… ({len(hidden):,} characters)"


def _bytes(path: Path) -> bytes:
    status = path.stat()
    if not path.is_file():
        raise ValueError("no plain file")
    if status.st_size > SIZE_BYTES:
        raise ValueError(f"{status.st_size:,} bytes, {SIZE_BYTES:,} allowed")
    return path.read_bytes()


def _refused(path: Path, why: str) -> str:
    return refusal(
        subject=f"adopt {path}",
        expected="a JSON, TOML or YAML object, a model card, or a folder with a model's configs",
        saw=why,
        means="Nothing of it can be held against a run.",
        action="Name the file that says how the model was made.",
        unaffected="the file, and every record that is there",
    )
