"""Sheets: the texts of a project in which claims may stand, with their anchors.

Every file is read: what git does not ignore, staged or untracked, and whatever somebody named.

Blind to: files of more than 2 MiB, which are data; text that is not UTF-8, in which only ASCII is understood, and in
UTF-16 nothing; submodules, which are projects of their own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from affidavit.claims.anchor.anchor import Anchor, anchors
from affidavit.claims.anchor.place import MARKDOWN, kind_of
from affidavit.observe import git
from affidavit.observe.error import ObserveError

SIZE_BYTES: Final = 2 << 20
_SIGNS: Final = (b"claim:", b"affidavit:superseded")
_PASSED_OVER: Final = frozenset(
    {".git", ".affidavit", ".venv", "venv", "node_modules", "site-packages", "__pycache__", "wandb", "mlruns"}
)


@dataclass(frozen=True)
class Sheet:
    """One text file. A byte that is no UTF-8 is kept as it is, so that what is written back is what was read."""

    path: Path
    text: str

    @cached_property
    def kind(self) -> str:
        return kind_of(self.path, self.text[:200].partition("\n")[0])

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        return anchors(self.text, self.kind)

    @property
    def is_document(self) -> bool:
        return self.kind == MARKDOWN


def sheets(paths: Iterable[Path]) -> Iterator[Sheet]:
    """Yield the files that carry a sign of ours."""
    for path in paths:
        raw = _raw(path)
        if any(sign in raw for sign in _SIGNS):
            yield Sheet(path, raw.decode("utf-8", "surrogateescape"))


def read_sheet(path: Path) -> Sheet:
    """Return one file; one that cannot be read as text is empty."""
    return Sheet(path, _raw(path).decode("utf-8", "surrogateescape"))


def below(folder: Path) -> Iterator[Path]:
    """Yield the files under a folder that git does not ignore, or all of them where there is no git."""
    try:
        answer = git.ask(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except ObserveError:
        yield from (path for path in sorted(folder.rglob("*")) if not _is_passed_over(path, folder) and path.is_file())
        return
    for record in dict.fromkeys(answer.records):
        if _PASSED_OVER.isdisjoint(record.split("/")) and _is_plain(os.path.join(folder, record)):  # noqa: PTH118
            yield folder / record


def _is_plain(path: str) -> bool:
    """Say whether a file of its own lies there: a link is read where it leads to, a pipe would be waited for."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_passed_over(path: Path, folder: Path) -> bool:
    return not _PASSED_OVER.isdisjoint(path.relative_to(folder).parts)


def _raw(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""  # a pipe would be waited for
        with path.open("rb") as file:
            raw = file.read(SIZE_BYTES + 1)
    except (OSError, ValueError):  # a name may hold a zero
        return b""
    return b"" if len(raw) > SIZE_BYTES or b"\0" in raw[:4096] else raw
