"""Where a reference leads: the file that is meant, and what can be pointed at in it, each looked at once."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Final

from affidavit.fact.folder import CORRECTIONS
from affidavit.lint.references.earlier import top_of
from affidavit.lint.references.headings import Document, document, lines_of

LARGEST_BYTES: Final = 2 << 20
"""What is larger is data, or was generated."""


class Targets:
    """The documents of a project, and what they point to; a document is read when somebody points into it.

    Args:
        paths: the documents that are read, resolved.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._paths = tuple(paths)
        self._documents: dict[Path, Document | None] = {}
        self._folders: dict[str, str] = {}
        self._places: dict[str, tuple[Path, bool]] = {}
        self._corrections: dict[Path, Path | None] = {}
        self._exists: dict[Path, bool] = {}
        self._inside: dict[tuple[Path, Path], bool] = {}

    def place(self, folder: Path, written: str) -> Path:
        """Return the path that is written in a document of a folder, links followed."""
        return self._place(f"{folder}/{written}")[0]

    def named(self, folder: Path, written: str) -> tuple[Path, bool]:
        """Return the document that a text calls by this name, and whether it had to be guessed.

        A text writes a path from its own folder, or from the top of the repository. A name that stands at neither, and
        is that of one document alone, is most likely this one's.
        """
        top = top_of(folder)
        for at in (folder, top) if top else (folder,):
            place, is_there = self._place(f"{at}/{written}")
            if is_there:
                return place, False
        alike = self._by_name.get(written.rpartition("/")[2], ())
        found = [path for path in alike if path.as_posix().endswith("/" + written)]
        if len(found) == 1:
            return found[0], True
        at = folder if top is None or Path(folder, written).parent.is_dir() else top
        return self.place(at, written), False

    def corrections(self, folder: Path) -> Path | None:
        """Return the folder of corrections of the project that a folder belongs to, the nearest above it."""
        if folder not in self._corrections:
            place = folder / CORRECTIONS
            is_top = folder == (top_of(folder) or folder)
            above = None if is_top else self.corrections(folder.parent)
            self._corrections[folder] = place if self.exists(place) else above
        return self._corrections[folder]

    def correction(self, folder: Path, digest: str) -> Path:
        """Return where the chain of a correction lies that a banner in a document of this folder speaks of."""
        place = self.corrections(folder) or (top_of(folder) or folder) / CORRECTIONS
        return next(iter(sorted(place.glob(f"{digest}*"))), place / digest)

    def exists(self, path: Path) -> bool:
        if path not in self._exists:
            self._exists[path] = self._place(str(path))[1]
        return self._exists[path]

    def lies_in(self, path: Path, top: Path) -> bool:
        if (path, top) not in self._inside:
            self._inside[path, top] = path.is_relative_to(top)
        return self._inside[path, top]

    def document(self, path: Path) -> Document | None:
        """Return what can be pointed at in a document; None where it cannot be read."""
        if path not in self._documents:
            try:
                self._documents[path] = document(text_of(path))
            except OSError:
                self._documents[path] = None
        return self._documents[path]

    def hold(self, path: Path, text: str, plain: str) -> Document:
        """Read the headings of a text that somebody has already."""
        held = self._documents.get(path) or document(text, plain)
        self._documents[path] = held
        return held

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = defaultdict(list)
        for path in self._paths:
            found[path.name].append(path)
        return found

    def _place(self, joined: str) -> tuple[Path, bool]:
        known = self._places.get(joined)
        if known is None:
            folder, name = os.path.split(os.path.normpath(joined))
            try:
                if folder not in self._folders:
                    self._folders[folder] = os.path.realpath(folder)
                path = Path(self._folders[folder], name)
                path = path.resolve() if path.is_symlink() else path
                known = path, path.exists()
                self._exists[path] = known[1]
            except (OSError, ValueError):
                known = Path(joined), False
            self._places[joined] = known
        return known


def text_of(path: Path) -> str:
    """Return the text of a document, odd bytes and all."""
    with path.open("rb") as file:
        return lines_of(file.read(LARGEST_BYTES).decode("utf-8", "replace"))
