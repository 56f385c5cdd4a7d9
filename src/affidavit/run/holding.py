"""What a file of data holds, as far as its first and last bytes tell: token ids, labels or masks, or neither.

A raw text that two runs share says nothing of how either was encoded; an encoding with its labels says all of it.

Blind to: arrays without names (``.npy``, ``.bin``), of which the file's own name must tell; compressed text.
"""

from __future__ import annotations

import re
from pathlib import Path

LABELS, IDS = "labels", "ids"
_BYTES = 64 * 1024
_TEXT = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_NAMELESS = (".npy", ".bin")
_KEY = re.compile(rb'"([A-Za-z_][A-Za-z_0-9]{0,40})"\s*:')
_NAME = re.compile(rb"(?<![A-Za-z_])[a-z_]{2,40}(?![A-Za-z_])")
_LABELS = re.compile(r"(?:[a-z]+_)*(?:labels?|masks?)")
_IDS = re.compile(r"(?:[a-z]+_)*input_ids|(?:[a-z]+_)*token_ids|tokens|ids")
_NO_LABELS = ("attention_mask", "special_tokens_mask", "padding_mask", "causal_mask", "position_mask")


def holds(path: Path) -> str:
    """Return ``ids, labels``, one of them, or "" where the file holds no encoding that can be told.

    Raises:
        OSError: it cannot be read.
    """
    if path.suffix in _NAMELESS:
        names = set(re.findall(r"[a-z_]+", path.stem.lower()))
    else:
        names = _names(path)
    found = {LABELS for name in names if _LABELS.fullmatch(name) and name not in _NO_LABELS}
    found |= {IDS for name in names if _IDS.fullmatch(name)}
    if path.suffix == ".json" and IDS not in found:
        return ""  # a config may speak of labels; an encoding has ids as well
    return ", ".join(sorted(found))


def _names(path: Path) -> set[str]:
    with path.open("rb") as file:
        head = file.read(_BYTES)
        if path.suffix in _TEXT:
            columns = head.partition(b"\n")[0] if path.suffix in (".csv", ".tsv") else b""
            return {one.decode().lower() for one in (*_KEY.findall(head), *_NAME.findall(columns))}
        file.seek(max(file.seek(0, 2) - _BYTES, 0))
        tail = file.read(_BYTES)
    return {one.decode() for one in (*_NAME.findall(head), *_NAME.findall(tail))}
