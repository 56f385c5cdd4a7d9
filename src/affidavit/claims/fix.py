"""What mends a project's numbers: a diff, and what of it may be written.

Only what git could bring back is written: a tracked file without changes. The others are named.

Blind to: a file that changes between being read and being written by somebody else; it is held against what was read.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.claims.judged import Edit, Word
from affidavit.claims.sheet import read_sheet
from affidavit.observe import git
from affidavit.observe.error import ObserveError


@dataclass(frozen=True, kw_only=True)
class Mend:
    """One file as it is and as it should be; ``places`` counts what differs."""

    path: Path
    before: str
    after: str
    places: int


def mends(words: Iterable[Word]) -> tuple[Mend, ...]:
    """Return what each file with a mendable place would become, in the order of their paths."""
    by_path: dict[Path, list[Word]] = {}
    for word in words:
        if word.edits:
            by_path.setdefault(word.path, []).append(word)
    found = []
    for path, here in sorted(by_path.items()):
        before = read_sheet(path).text
        after = edited(before, (edit for word in here for edit in word.edits))
        if after != before and (path.suffix != ".ipynb" or _is_json(after)):
            found.append(Mend(path=path, before=before, after=after, places=len(here)))
    return tuple(found)


def _is_json(text: str) -> bool:
    """Say whether a notebook still is one: a unit may have any sign in it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits; of two that overlap the first counts."""
    kept: list[str] = []
    end = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.at, edit.new)):
        if edit.at.start >= end:
            kept += (text[end : edit.at.start], edit.new)
            end = edit.at.end
    return "".join((*kept, text[end:]))


def diff(found: Iterable[Mend], root: Path) -> Iterator[str]:
    """Yield the lines of a unified diff that ``git apply`` and ``patch -p1`` take, each with its line end."""
    for mend in found:
        name = Path(os.path.relpath(mend.path, root)).as_posix()
        before, after = _lines(mend.before), _lines(mend.after)
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def reason_against(path: Path) -> str:
    """Return why a file is not written, or "" where git can bring it back as it is."""
    if path.is_symlink():
        return "a symbolic link"
    try:
        tracked = git.ask(path.parent, "ls-files", "-v", "-z", "--", path.name).records
        status = git.ask(path.parent, "status", "--porcelain", "-z", "--", path.name).records
    except ObserveError:
        return "git cannot say whether it is clean"
    if not tracked:
        return "not tracked"
    if not all(record.startswith("H ") for record in tracked):
        return "git was told not to look at it (assume-unchanged or skip-worktree), or it is in conflict"
    return f"changed since its commit ({status[0][:2].strip()})" if status else ""


def write(mend: Mend) -> str:
    """Put a file's new text in its place, whole or not at all, and return why it was not, or ""."""
    against = reason_against(mend.path)
    if against:
        return against
    if read_sheet(mend.path).text != mend.before:
        return "changed just now"
    try:
        _replace(mend.path, mend.after.encode("utf-8", "surrogateescape"))
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _replace(path: Path, raw: bytes) -> None:
    """Put bytes under a name in one step; who may read and run the file stays as it was."""
    mode = path.stat().st_mode & 0o7777
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(raw)
            opened.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a line feed ends one, as for git."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
