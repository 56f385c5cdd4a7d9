"""Which installed distribution owns a file: the one whose RECORD lists it.

`importlib.metadata` can say so too, by parsing every METADATA and building an object for every file. Here
the RECORD files of one site folder are read once, as bytes, and only when a file of that folder is asked for.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_METADATA: Final = re.compile(r"^(?P<name>.+?)(-(?P<version>[^-]+))?(-py[\d.]+.*)?\.(dist|egg)-info$")


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed package by its normalised name (PEP 503) and version ("" when the folder has none)."""

    name: str
    version: str


@dataclass(frozen=True, kw_only=True)
class Site:
    """One site folder: files that a RECORD lists, and top-level names of distributions without a RECORD."""

    folder: Path
    listed: Mapping[str, Distribution]
    top_level: Mapping[str, Distribution]

    def owner(self, path: Path) -> Distribution | None:
        """The distribution that owns the file; None when nobody installed it."""
        relative = os.path.relpath(path, self.folder)
        owner = self.listed.get(relative)
        if owner is None and not relative.startswith(".."):
            owner = self.top_level.get(Path(relative).parts[0].partition(".")[0])
        return owner


def read_site(folder: Path) -> Site:
    """The ownership table of one site folder.

    Raises:
        OSError: the folder cannot be listed.
    Source: the RECORD format of PEP 376 and PEP 627; playbook §4.4.
    Blind to: whether the bytes still equal the hash in RECORD; two distributions that list one file (the
        first by name is named); a stale dist-info of a removed version.
    """
    listed: dict[str, Distribution] = {}
    top_level: dict[str, Distribution] = {}
    for metadata in sorted(folder.iterdir()):
        parts = _METADATA.match(metadata.name)
        if parts is None:
            continue
        name = re.sub(r"[-_.]+", "-", parts["name"]).lower()
        owner = Distribution(name=name, version=parts["version"] or "")
        record = metadata / "RECORD"
        if record.is_file():
            for path in _record_paths(record):
                listed.setdefault(path, owner)
        else:
            for top in _top_level(metadata, parts["name"]):
                top_level.setdefault(top, owner)
    return Site(folder=folder, listed=listed, top_level=top_level)


def _record_paths(record: Path) -> Iterator[str]:
    text = record.read_bytes().decode("utf-8", "surrogateescape")
    for line in text.splitlines():
        path = next(csv.reader([line]))[0] if line.startswith('"') else line.partition(",")[0]
        yield os.path.normpath(path) if path.startswith(".") else path


def _top_level(metadata: Path, name: str) -> tuple[str, ...]:
    listing = metadata / "top_level.txt"
    if listing.is_file():
        return tuple(line.strip().split("/")[0] for line in listing.read_text("utf-8").splitlines() if line.strip())
    return (name.replace("-", "_"),)
