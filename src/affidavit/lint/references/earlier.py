"""What a document said before: in HEAD where it is changed now, and before each of the last commits that touched it."""

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
MOST_VERSIONS: Final = 10
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


def revisions(top: Path, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return the revisions that hold the versions before of each document, the newest first.

    Args:
        paths: the documents, from the top of the repository.
    Raises:
        ObserveError: git has no answer, or none in time.
    Blind to: what stood before a document was renamed; commits before the last 300 that touched any of these.
    """
    paths = [path for path in paths if "\n" not in path][:MOST_DOCUMENTS]
    if not paths:
        return {}
    found: dict[str, list[str]] = {path: [] for path in paths}
    for path in _names(_git(top, "diff", "--name-only", "--no-renames", "--no-relative", "-z", "HEAD", "--", *paths)):
        found[path].append("HEAD")
    log = ("log", "--first-parent", "-m", "--no-renames", "--name-only", "-z", f"--format={_MARK}%H", "-n")
    commit = ""
    for word in _names(_git(top, *log, str(MOST_COMMITS), "--", *paths)):
        if word.startswith(_MARK):
            commit = word.removeprefix(_MARK)
        elif commit and len(found[word]) < MOST_VERSIONS:
            found[word].append(f"{commit}^")
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
            found[one] = answer[at : at + size].decode("utf-8", "replace")
        at += size + 1
    return found


def ignored(paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of some absent files that git is told to ignore: something makes them, and nobody commits them."""
    found: set[Path] = set()
    for top, names in _by_top(paths).items():
        stdin = b"".join(os.fsencode(name) + b"\0" for name in names)
        try:
            answer = ask(top, *_IGNORED, stdin=stdin, extra=_NO_LITERALS, accept=(0, 1), limit_seconds=LIMIT_SECONDS)
        except ObserveError:
            continue
        found.update(top / name for name in answer.records)
    return frozenset(found)


def once_there(paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of some absent files that the last commit holds, or that one of the commits before took away."""
    log = ("log", "--first-parent", "-m", "--no-renames", "--diff-filter=D", "--name-only", "-z", "--format=", "-n")
    found: set[Path] = set()
    for top, names in _by_top(paths).items():
        try:
            held = _git(top, "ls-tree", "-r", "--name-only", "-z", "HEAD", "--", *names)
            taken = _git(top, *log, str(MOST_COMMITS), "--", *names)
        except ObserveError:
            continue
        found.update(top / name for name in _names(held + "\0" + taken))
    return frozenset(found)


def _by_top(paths: Iterable[Path]) -> dict[Path, list[str]]:
    found: dict[Path, list[str]] = {}
    for path in list(dict.fromkeys(paths))[:MOST_DOCUMENTS]:
        top = top_of(path.parent)
        name = "" if top is None else path.relative_to(top).as_posix()
        if top is not None and not name.startswith(":") and not {"\0", "\n"} & set(name):
            found.setdefault(top, []).append(name)
    return found


def _git(top: Path, *arguments: str) -> str:
    return os.fsdecode(ask(top, *arguments, limit_seconds=LIMIT_SECONDS).stdout)


def _names(answer: str) -> list[str]:
    return [word for part in answer.split("\0") for word in part.split("\n") if word]
