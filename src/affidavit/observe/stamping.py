"""Makes a stamp where git still is: every file of a folder with its digest, and what the commit says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from affidavit.fact.errors import refusal
from affidavit.observe.arguments import CONFIG_SUFFIXES
from affidavit.observe.code import identify
from affidavit.observe.error import NotARepositoryError, StampError
from affidavit.observe.git import ask
from affidavit.observe.identity import LoadedFile
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.repository import GITLINK, Repository, is_top, read
from affidavit.observe.stamp import NAME, Line, Stamp
from affidavit.observe.tree import moved_submodules
from affidavit.observe.verdict import DESCRIBED, FileVerdict

FILE_BYTES: Final = 1 << 26
"""A larger file is data, and nothing imports it."""

_CODE: Final = frozenset({".py", ".so", ".sh", *CONFIG_SUFFIXES})
_NOWHERE: Final = Interpreter(prefix=Path("/nowhere"), base_prefix=Path("/nowhere"), sites=(), stdlib=())


def make(folder: Path) -> Stamp:
    """The stamp of a folder in a work tree, submodules included. Nothing is written.

    What git was told to ignore is not in it: a run that imports such a file is told so.

    Raises:
        StampError: no repository, no commit yet, or a repository in it that does not answer.
        GitMissingError, GitRefusedError: nobody to ask, or no answer.
    Source: playbook §4.4.
    Blind to: files that a later step of the build writes; what the folder is called once it is copied.
    """
    folder = folder.resolve()
    try:
        home = read(folder)
    except NotARepositoryError as error:
        raise _impossible(folder, "no repository around it") from error
    if home.commit is None:
        raise _impossible(folder, "a repository in which nothing is committed yet")
    paths = [path for path in dict.fromkeys(_paths(home, folder)) if path.name != NAME and _is_small(path)]
    code = identify([LoadedFile(path=path) for path in paths], _NOWHERE)
    moved, unanswered = moved_submodules(code.repositories)
    if code.refusals or unanswered:
        raise StampError((*code.refusals, *unanswered)[0].why)
    files: dict[str, Line] = {}
    for file in code.files:
        if file.sha256 is None or not file.real.is_relative_to(folder):
            continue
        is_moved = any(file.real.is_relative_to(one.top) for one in moved) and file.verdict in DESCRIBED
        verdict = FileVerdict.MODIFIED if is_moved else file.verdict
        files[file.real.relative_to(folder).as_posix()] = Line(sha256=file.sha256, verdict=verdict)
    return Stamp(project=home.top.name, commit=home.commit, files=files)


def _paths(repository: Repository, folder: Path) -> Iterator[Path]:
    """Yield what the commit holds below a folder, and code beside it that it does not hold."""
    for path, entry in repository.blobs.items():
        place = repository.top / path
        if entry.mode == GITLINK:
            if is_top(place):
                yield from _paths(read(place), folder)
        elif place.is_relative_to(folder):
            yield place
    for path in ask(repository.top, "ls-files", "--others", "--exclude-standard", "-z").records:
        place = repository.top / path
        if place.suffix in _CODE and place.is_relative_to(folder):
            yield place


def _is_small(path: Path) -> bool:
    try:
        return os.path.getsize(path) <= FILE_BYTES  # noqa: PTH202
    except OSError:
        return False  # deleted, or a link to nowhere: no image holds it


def _impossible(folder: Path, saw: str) -> StampError:
    return StampError(
        refusal(
            subject=f"stamp of {folder}",
            expected="a folder of a repository with a commit",
            saw=saw,
            means="There is no commit that a stamp could name.",
            action='Run "affidavit stamp" where the repository is, before the image leaves it behind.',
            unaffected="everything; nothing was written",
        )
    )
