"""Readings of whole projects, kept between processes: unchanged files cost no more than to be read and hashed.

What a file says depends on what it imports of the others, so a reading holds for all of its files or for none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from affidavit.lint import request
from affidavit.lint.request import Field, Request, Unread
from affidavit.lint.scripts.reading import Late, Parser, Reading
from affidavit.lint.scripts.source import Source

MOST: Final = 16
"""Readings that a folder keeps; the one that was not asked for the longest goes first."""
_FOLDER: Final = "readings"


@dataclass(frozen=True, kw_only=True)
class _Document:
    """A reading as it is written down; ``names`` are those that are read, one a line."""

    requests: tuple[Request, ...]
    fields: tuple[Field, ...]
    fields_examined: int
    unread: tuple[Unread, ...]
    parsers: tuple[Parser, ...]
    late: tuple[Late, ...]
    names: str
    files: int


class Kept:
    """The readings in a folder. A file that is damaged counts as none; writers do not wait for each other."""

    def __init__(self, store: Path, root: Path) -> None:
        self._folder = store / _FOLDER
        self._root = root

    def key(self, sources: Iterable[Source], watched: frozenset[str], named: frozenset[Path]) -> str:
        """Return what a reading hangs on: our reader, Python, what is watched, and every file by name and content."""
        digest = hashlib.sha256(_reader().encode())
        digest.update("\0".join(sorted(watched)).encode())
        for source in sources:
            told = f"\0{self._text(source.path)}\0{source.path in named}\0{source.trouble}\0{len(source.raw)}\0"
            digest.update(told.encode("utf-8", "surrogateescape"))
            digest.update(source.raw)
        return digest.hexdigest()

    def get(self, key: str) -> Reading | None:
        """Return the reading under a key, None where there is none that can be read."""
        path = self._path(key)
        try:
            told = msgspec.json.decode(path.read_bytes(), type=_Document, dec_hook=self._decoded)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return Reading(
            requests=told.requests,
            fields=told.fields,
            fields_examined=told.fields_examined,
            unread=told.unread,
            parsers=told.parsers,
            late=told.late,
            read_names=frozenset(told.names.split("\n")),
            files=told.files,
        )

    def put(self, key: str, reading: Reading, names: Iterable[bytes]) -> None:
        """Keep a reading; a folder that cannot be written keeps nothing."""
        document = _Document(
            requests=reading.requests,
            fields=reading.fields,
            fields_examined=reading.fields_examined,
            unread=reading.unread,
            parsers=reading.parsers,
            late=reading.late,
            names=b"\n".join(sorted(names)).decode("utf-8", "replace"),
            files=reading.files,
        )
        with contextlib.suppress(OSError, UnicodeError):
            raw = msgspec.json.encode(document, enc_hook=self._text)
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(raw)
                Path(name).replace(self._path(key))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._forget()

    def _forget(self) -> None:
        kept = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[MOST:]:
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key[:32]}.json"

    def _text(self, path: Path) -> str:
        """Return a path as text, from the root where it lies below it."""
        try:
            return path.relative_to(self._root).as_posix()
        except ValueError:
            return str(path)

    @functools.cached_property
    def _paths(self) -> dict[str, Path]:
        return {}

    def _decoded(self, kind: type, value: Any) -> Path:
        found = self._paths.get(value)
        if found is None:
            found = self._paths[value] = self._root / value
        return found


@functools.cache
def _reader() -> str:
    """Return which text of ours reads, and which Python: a file that one of them reads another may not."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (Path(request.__file__), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()
