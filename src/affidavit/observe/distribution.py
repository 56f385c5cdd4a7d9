"""Which installed distribution owns a file, and what its RECORD says of the bytes: the one that lists it.

`importlib.metadata` can say so too, by parsing every METADATA and building an object for every file. Here
the RECORD files of one site folder are read once, as bytes, and only when a file of that folder is asked for.
"""

from __future__ import annotations

import base64
import binascii
import csv
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

REWRITING: Final = frozenset({"", "conda", "debian", "rpm"})
"""Installers that change files after RECORD was made, and keep digests of their own elsewhere.

Debian strips libraries and signs with no name; conda writes its prefix into files. pip, uv, poetry and pdm sign, and
change nothing.
"""

_METADATA: Final = re.compile(r"^(?P<name>.+?)(-(?P<version>[^-]+))?(-py[\d.]+.*)?\.(dist|egg)-info$")


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed package by its normalised name (PEP 503) and version ("" when the folder has none)."""

    name: str
    version: str
    metadata: Path


class Line(NamedTuple):
    """A RECORD's line on one file: whose RECORD it is, and what follows the path (a hash and a size, or neither)."""

    owner: Distribution
    rest: str


@dataclass(frozen=True, kw_only=True)
class Site:
    """One site folder: files that a RECORD lists, and top-level names of distributions without a RECORD.

    ``doubled`` holds the further lines of a file that several distributions list; the last one installed wrote it.
    """

    folder: Path
    listed: Mapping[str, Line]
    doubled: Mapping[str, tuple[Line, ...]]
    top_level: Mapping[str, Distribution]

    def owner(self, path: Path) -> Distribution | None:
        """The distribution that owns the file; None when nobody installed it."""
        relative = self._relative(path)
        line = self.listed.get(relative)
        if line is not None:
            return line.owner
        if relative.startswith(".."):
            return None
        return self.top_level.get(relative.partition("/")[0].partition(".")[0])

    def digests(self, path: Path) -> tuple[str, ...]:
        """The sha256, in hexadecimal, of what was installed under the path; nothing where that is nowhere said.

        Source: PEP 376, PEP 427 (urlsafe base64 without its padding).
        Blind to: a RECORD that was edited with the file; hashes of another kind than sha256.
        """
        relative = self._relative(path)
        if relative not in self.listed:
            return ()
        lines = (self.listed[relative], *self.doubled.get(relative, ()))
        found = [_sha256(line) for line in lines]
        return tuple(found) if all(found) else ()

    def _relative(self, path: Path) -> str:
        return relative(path, self.folder)


def relative(path: Path, folder: Path) -> str:
    """The path from a folder, as RECORD spells it; thousands are asked, and most lie below."""
    text, above = os.fspath(path), f"{folder}/"
    return text.removeprefix(above) if text.startswith(above) else os.path.relpath(text, folder)


def read_site(folder: Path) -> Site:
    """The ownership table of one site folder, read once a process as long as nobody installs anything there.

    Raises:
        OSError: the folder cannot be listed.
    Source: the RECORD format of PEP 376 and PEP 627; playbook §4.4.
    Blind to: which of two distributions that list one file wrote it (the first by name is named); a stale
        dist-info of a removed version, which counts as one that lists it.
    """
    names = (name for name in os.listdir(folder) if _METADATA.match(name))  # noqa: PTH208
    return _read_site(folder, tuple(sorted((name, _mark(f"{folder}/{name}/RECORD")) for name in names)))


def _mark(record: str) -> tuple[int, ...]:
    try:
        found = os.stat(record)  # noqa: PTH116
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(maxsize=8)
def _read_site(folder: Path, marks: tuple[tuple[str, tuple[int, ...]], ...]) -> Site:
    """The table of what lies in a folder; ``marks`` say which RECORD files, as they are now."""
    listed: dict[str, Line] = {}
    doubled: dict[str, tuple[Line, ...]] = {}
    top_level: dict[str, Distribution] = {}
    for told, _ in marks:
        metadata = folder / told
        parts = _METADATA.match(told)
        assert parts is not None
        name = re.sub(r"[-_.]+", "-", parts["name"]).lower()
        owner = Distribution(name=name, version=parts["version"] or "", metadata=metadata)
        record = metadata / "RECORD"
        if record.is_file():
            for path, rest in _record_lines(record):
                line = Line(owner, rest)
                if listed.setdefault(path, line) is not line:
                    doubled[path] = (*doubled.get(path, ()), line)
        else:
            for top in _top_level(metadata, parts["name"]):
                top_level.setdefault(top, owner)
    return Site(folder=folder, listed=listed, doubled=doubled, top_level=top_level)


def _record_lines(record: Path) -> Iterator[tuple[str, str]]:
    text = record.read_bytes().decode("utf-8", "surrogateescape")
    for line in text.splitlines():
        if line.startswith('"'):
            path, *fields = next(csv.reader([line]))
            rest = ",".join(fields)
        else:
            path, _, rest = line.partition(",")
        yield os.path.normpath(path) if path.startswith(".") else path, rest


def _sha256(line: Line) -> str:
    """The digest on a line, or "" where it has none that describes the bytes on disk."""
    algorithm, _, encoded = line.rest.partition(",")[0].partition("=")
    if algorithm != "sha256" or _installer(line.owner.metadata) in REWRITING:
        return ""
    try:
        raw = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return ""
    return raw.hex() if len(raw) == 32 else ""


@lru_cache(maxsize=1024)
def _installer(metadata: Path) -> str:
    try:
        return (metadata / "INSTALLER").read_text("utf-8", "replace").strip().lower()
    except OSError:
        return ""


def _top_level(metadata: Path, name: str) -> tuple[str, ...]:
    listing = metadata / "top_level.txt"
    if listing.is_file():
        return tuple(line.strip().split("/")[0] for line in listing.read_text("utf-8").splitlines() if line.strip())
    return (name.replace("-", "_"),)
