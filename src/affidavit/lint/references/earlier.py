"""What a document said before: in HEAD where it is changed now, else before the last commit that touched it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from affidavit.observe.error import ObserveError
from affidavit.observe.git import ask

MOST_DOCUMENTS: Final = 1_000
MOST_COMMITS: Final = 300
LIMIT_SECONDS: Final = 5.0
"""What one question may take; after it, nothing is known of the time before."""
_MARK: Final = "\x01"
_IGNORED: Final = ("check-ignore", "--stdin", "-z")
_NO_LITERALS: Final = {"GIT_LITERAL_PATHSPECS": "0"}
"""This question refuses to be asked with them."""


@cache
def top_of(folder: Path) -> Path | None:
    """Return the top of the repository that a folder lies in, as the folders alone say it."""
    if os.path.lexists(folder / ".git"):
        return folder
    return None if folder.parent == folder else top_of(folder.parent)


def revisions(top: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the revision that holds the version before of each document; none where the history is cut off.

    Args:
        paths: the documents, from the top of the repository.
    Raises:
        ObserveError: git has no answer, or none in time.
    Blind to: what stood before a document was renamed; documents that were not touched in the last 300 commits that
        touched any of these.
    """
    if _git(top, "rev-parse", "--is-shallow-repository").startswith("true"):
        return {}
    paths = [path for path in paths if "\n" not in path][:MOST_DOCUMENTS]
    found = dict.fromkeys(_names(_git(top, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--", *paths)), "HEAD")
    rest = [path for path in paths if path not in found]
    if not rest:
        return found
    log = ("log", "--first-parent", "-m", "--no-renames", "--name-only", "-z", f"--format={_MARK}%H", "-n")
    commit = ""
    for word in _names(_git(top, *log, str(MOST_COMMITS), "--", *rest)):
        if word.startswith(_MARK):
            commit = word.removeprefix(_MARK)
        elif commit:
            found.setdefault(word, f"{commit}^")
    return found


def texts(top: Path, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the text of each path at its revision, where there was one."""
    asked = list(dict.fromkeys(one for one in wanted if "\n" not in one[1]))
    if not asked:
        return {}
    stdin = b"".join(os.fsencode(f"{revision}:{path}\n") for revision, path in asked)
    answer = ask(top, "cat-file", "--batch", stdin=stdin, limit_seconds=LIMIT_SECONDS).stdout
    found: dict[tuple[str, str], str] = {}
    at = 0
    for one in asked:
        end = answer.find(b"\n", at)
        header, at = answer[at:end], end + 1
        if end < 0:
            break
        words = header.split()
        if header.endswith(b" missing") or len(words) < 3 or not words[-1].isdigit():
            continue
        size = int(words[-1])
        if words[-2] == b"blob":
            found[one] = answer[at : at + size].decode("utf-8", "replace").replace("\r\n", "\n")
        at += size + 1
    return found


def ignored(paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of some absent files that git is told to ignore: something makes them, and nobody commits them."""
    by_top: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(paths):
        top = top_of(path.parent)
        if top is not None and "\0" not in str(path) and not str(path.relative_to(top)).startswith(":"):
            by_top.setdefault(top, []).append(path)
    found: set[Path] = set()
    for top, there in by_top.items():
        stdin = b"".join(os.fsencode(path.relative_to(top)) + b"\0" for path in there)
        try:
            answer = ask(top, *_IGNORED, stdin=stdin, extra=_NO_LITERALS, accept=(0, 1), limit_seconds=LIMIT_SECONDS)
        except ObserveError:
            continue
        found.update(top / name for name in answer.records)
    return frozenset(found)


def _git(top: Path, *arguments: str) -> str:
    return os.fsdecode(ask(top, *arguments, limit_seconds=LIMIT_SECONDS).stdout)


def _names(answer: str) -> list[str]:
    return [word for part in answer.split("\0") for word in part.split("\n") if word]
