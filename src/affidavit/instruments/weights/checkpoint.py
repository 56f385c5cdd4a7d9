"""Live parameters against the files that they were loaded from: the first and the last elements of each.

The files are read by their format, so that no library's word is needed: eight bytes of length, a JSON header with
name, type, shape and place of each tensor, then the bytes.

Source: the safetensors format, version 0.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.attach.moment import Restored

AS_FILED = "as in the file"
NEAR = "near the file"
UNLIKE = "unlike the file"
NEW_PART = "of a new part not in the file"
MISSING = "missing among loaded layers"
RESIZED = "of another shape in the file"
AGAIN = "loaded again since"
UNCOMPARED = "taken on the word of the loader"
STRANGE = (UNLIKE, NEW_PART, MISSING, RESIZED)

ELEMENTS = 1024
GOES_TOGETHER = 0.5
"""The least correlation at which live values are the file's, edited; values made anew have one around 0."""
HEADER_BYTES = 100_000_000
_TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}


@dataclass(frozen=True)
class Filed:
    """Where the values of one tensor lie in a file."""

    path: Path
    type: str
    shape: tuple[int, ...]
    begin: int
    end: int


def compared(moment: Restored, *, deadline: float) -> dict[int, tuple[str, str]]:
    """Return each parameter of a model that was loaded, by identity, with its name and how it stands to its files."""
    filed = contents(moment.files)
    missing, resized = set(moment.missing), set(moment.resized)
    present = moment.places.keys() - missing
    called: dict[int, list[str]] = {}
    for name, parameter in moment.places.items():
        called.setdefault(id(parameter), []).append(name)
    kinds: dict[int, tuple[str, str]] = {}
    for key, names in called.items():
        own = names[0]
        where = [filed[found] for name in names if (found := _key(name, filed, moment.prefix))]
        if any(name in resized for name in names):
            kind = RESIZED
        elif not where and all(name in missing for name in names):
            kind = MISSING if _has_loaded_siblings(own, present) else NEW_PART
        elif not where or time.monotonic() > deadline:
            kind = UNCOMPARED
        else:
            kind = _likeness(moment.places[own], where[0])
        kinds[key] = own, kind
    return kinds


def contents(files: Sequence[str]) -> dict[str, Filed]:
    """Return every floating-point tensor in these files by its name; files of another format hold none."""
    found: dict[str, Filed] = {}
    for path in map(Path, files):
        if path.suffix != ".safetensors":
            continue
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if length > HEADER_BYTES:
                continue
            header: Mapping[str, Any] = json.loads(stream.read(length))
        for name, row in header.items():
            if name != "__metadata__" and row["dtype"] in _TYPES:
                begin, end = (8 + length + offset for offset in row["data_offsets"])
                found[name] = Filed(path, _TYPES[row["dtype"]], tuple(row["shape"]), begin, end)
    return found


def _key(name: str, filed: Mapping[str, Filed], prefix: str) -> str:
    candidates = (name, prefix + name, name.removeprefix(prefix))
    return next((key for key in candidates if key in filed), "")


def _has_loaded_siblings(name: str, present: Iterable[str]) -> bool:
    """Say whether a name is of a stack of layers other parts of which were loaded, so that it is no new head."""
    stack = re.match(r"(.*?\.)\d+\.", name)
    return stack is not None and any(other.startswith(stack[1]) for other in present)


def _likeness(parameter: Any, filed: Filed) -> str:
    import torch

    live = parameter.detach()
    if type(live) is not torch.Tensor and type(parameter) is not torch.nn.Parameter:
        return UNCOMPARED
    if live.device.type == "meta" or not live.is_floating_point() or not live.is_contiguous() or not live.numel():
        return UNCOMPARED
    if tuple(live.shape) != filed.shape:
        return RESIZED
    count = min(ELEMENTS, live.numel())
    flat = live.reshape(-1)
    ends = torch.cat([flat[:count], flat[-count:]]).cpu()
    stored = torch.cat([_read(torch, filed, count, last=False), _read(torch, filed, count, last=True)])
    if torch.equal(stored.to(ends.dtype), ends):
        return AS_FILED
    ours, theirs = ends.double(), stored.double()
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    scale = float(ours.norm() * theirs.norm())
    return NEAR if scale and float(ours @ theirs) / scale >= GOES_TOGETHER else UNLIKE


def _read(torch: Any, filed: Filed, count: int, *, last: bool) -> Any:
    type_ = getattr(torch, filed.type)
    size = count * type_.itemsize
    with filed.path.open("rb") as stream:
        stream.seek(filed.end - size if last else filed.begin)
        return torch.frombuffer(bytearray(stream.read(size)), dtype=type_)
