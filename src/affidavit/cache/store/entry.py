"""An entry: what a key leads to, as it is written down and read back.

Source: anchors-mechanisms C1: on a hit the manifest says what the entry was built with.
Blind to: whether the bytes of its shards are still there; the store looks.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.cache.preimage import Preimage, PreimageShapeError, canonical, digest_of

VERSION = 1
"""Of the form of an entry."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A run of rows in a file of its own.

    Args:
        at: its place among the shards.
        name: of the file, which holds the beginning of its digest.
        rows: how many are in it; ``made_of`` how many of the input they were made of.
        facts: what its build counted.
    """

    at: int
    name: str
    digest: str
    size: int
    rows: int
    made_of: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What a key leads to: what it was built with, in which shards it lies, what its build counted, and when that was.

    Args:
        form: what the shards are: ``rows`` of a dataset, or the parts of one ``value``.
        facts: of the build, never of whoever reads it.
        built: versions and settings of the build that are no part of the key.
        written: Unix seconds.
    """

    preimage: Preimage
    form: str
    shards: tuple[Shard, ...]
    facts: Mapping[str, Any]
    built: Mapping[str, Any]
    written: float
    folder: Path

    @property
    def key(self) -> str:
        return self.preimage.digest

    @property
    def rows(self) -> int:
        return sum(shard.rows for shard in self.shards)

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(self.folder / shard.name for shard in self.shards)


def written(preimage: Preimage, shards: tuple[Shard, ...], *, form: str, facts: Mapping[str, Any]) -> bytes:
    """Return an entry as it is stored, under a digest of its own."""
    said = {
        "version": VERSION,
        "preimage": preimage.to_json(),
        "form": form,
        "shards": [vars(shard) for shard in shards],
        "facts": facts,
        "built": _circumstances(),
        "written": time.time(),
    }
    return canonical({**said, "digest": digest_of(canonical(said))})


def read(data: bytes, folder: Path) -> Entry | None:
    """Return an entry from its bytes; None where they are not what was written."""
    said = decoded(data)
    if said.pop("digest", None) != digest_of(canonical(said)) or said.get("version") != VERSION:
        return None
    try:
        return Entry(
            preimage=Preimage.from_json(said["preimage"]),
            form=said["form"],
            shards=tuple(Shard(**row) for row in said["shards"]),
            facts=said["facts"],
            built=said["built"],
            written=said["written"],
            folder=folder,
        )
    except (KeyError, TypeError, PreimageShapeError):
        return None


def shard_of(row: Mapping[str, Any]) -> Shard | None:
    try:
        return Shard(**row)
    except TypeError:
        return None


def decoded(data: bytes | None) -> dict[str, Any]:
    """Return a JSON object; an empty one where the bytes are none."""
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def state_of(path: Path) -> list[int] | None:
    """Return what moves when a file is written or replaced, also where its size and time were given back."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def content_of(path: Path) -> str:
    """Return the digest of a file's bytes, which are read."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return f"sha256:{hashed.hexdigest()}"


def holds(path: Path, shard: Shard) -> bool:
    """Say whether a file holds what its shard says; its bytes are read."""
    state = state_of(path)
    return state is not None and state[2] == shard.size and content_of(path) == shard.digest


def _circumstances() -> dict[str, Any]:
    import platform

    from affidavit.fact import VERSION as OURS

    return {"affidavit": OURS, "python": platform.python_version(), "system": platform.system()}
