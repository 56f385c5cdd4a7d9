"""One git repository as a judge needs it: the commit's blobs, and what git's own answers would hide.

The index can be staged ahead of the commit and flagged to look away; so the blob map comes from HEAD, and
`git status` is kept beside it as a second witness, never as the judge.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from affidavit.observe.error import GitRefusedError, NotARepositoryError
from affidavit.observe.git import ask

ObjectFormat = Literal["sha1", "sha256"]

GITLINK: Final = "160000"
SYMLINK: Final = "120000"

_HIDING: Final = (
    r"^(status\.showuntrackedfiles|diff\.ignoresubmodules|core\.(checkstat|trustctime|filemode|ignorestat|"
    r"autocrlf|eol|fsmonitor|excludesfile|attributesfile|sparsecheckout)|submodule\..*\.ignore|"
    r"filter\..*\.clean)$"
)


@dataclass(frozen=True, kw_only=True)
class Blob:
    """An entry of the commit's tree: its mode and its object id."""

    mode: str
    id: str


@dataclass(frozen=True, kw_only=True)
class StatusLine:
    """One path that `git status` lists, with its two letters (`??` untracked, ` M` edited ...)."""

    path: str
    code: str


@dataclass(frozen=True, kw_only=True)
class IndexFlag:
    """A tracked path on which git was told to look away."""

    path: str
    flag: Literal["assume-unchanged", "skip-worktree"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A configuration key that changes what git calls clean."""

    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Submodule:
    """A gitlink of the commit: the folder and the commit that the superproject recorded for it."""

    path: str
    commit: str


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository at one commit.

    `commit` is None while HEAD is unborn. `status` is None when git would not say (`status_refusal`).
    """

    top: Path
    git_dir: Path
    commit: str | None
    object_format: ObjectFormat
    blobs: Mapping[str, Blob]
    status: tuple[StatusLine, ...] | None
    status_refusal: str
    flags: tuple[IndexFlag, ...]
    settings: tuple[Setting, ...]
    submodules: tuple[Submodule, ...]

    def relative(self, path: Path) -> str:
        """The path as the commit spells it."""
        return path.relative_to(self.top).as_posix()

    def witness(self, path: str) -> str | None:
        """The letters `git status` gives the path or a folder above it; "" when it is silent."""
        if self.status is None:
            return None
        above = (path, *(parent.as_posix() for parent in Path(path).parents))
        return next((self._codes[step] for step in above if step in self._codes), "")

    @cached_property
    def _codes(self) -> Mapping[str, str]:
        return {line.path.rstrip("/"): line.code for line in self.status or ()}


def find_top(path: Path) -> Path | None:
    """The nearest folder at or above `path` that holds a `.git`, as git would walk.

    A file in a submodule, or in a clone that the outer repository ignores, belongs to the INNER one.
    """
    return next((folder for folder in (path, *path.parents) if is_top(folder)), None)


def is_top(folder: Path) -> bool:
    """The folder itself holds a `.git` that git would use: a file that points away, or a folder with HEAD."""
    marker = folder / ".git"
    try:
        return marker.is_file() or (marker / "HEAD").is_file() or (marker / "HEAD").is_symlink()
    except PermissionError:
        return False  # closed to us, so to git; the files below it read unreadable


def read(folder: Path, *, commit: str = "HEAD") -> Repository:
    """The repository of `folder` at `commit`.

    Args:
        folder: any folder inside the work tree.
        commit: the revision to judge against; give the id seen at launch, since HEAD can move during a run.
    Raises:
        GitMissingError, NotARepositoryError: nobody to ask, nothing to ask about.
        GitRefusedError: git did not answer, or speaks about another work tree than the one on this path.
    Source: playbook §4.4; research on dirty-tree traps (16 ways to look clean).
    Blind to: a `core.worktree` that moves while we read; replace refs and grafts are switched off.
    """
    folder = folder.resolve()
    top = find_top(folder)
    if top is None:
        raise NotARepositoryError(
            f"git.repository: expected a git repository (folder), saw no .git at or above {folder}.\n"
            f'This means no commit describes this code. Run "git init" and commit, or "affidavit stamp".\n'
            f"Not affected: facts read inside the training process."
        )
    git_dir, object_format = _identity(top)
    head = _resolve(top, commit)
    tree = _tree(top, head) if head else {}
    status, refusal = _status(top)
    return Repository(
        top=top,
        git_dir=git_dir,
        commit=head,
        object_format=object_format,
        blobs=MappingProxyType(tree),
        status=status,
        status_refusal=refusal,
        flags=_flags(top),
        settings=_settings(top),
        submodules=tuple(Submodule(path=path, commit=blob.id) for path, blob in tree.items() if blob.mode == GITLINK),
    )


def _identity(top: Path) -> tuple[Path, ObjectFormat]:
    wanted = ("rev-parse", "--show-object-format", "--absolute-git-dir", "--show-toplevel")
    lines = ask(top, *wanted).text.split("\n")
    if len(lines) != 3 or Path(lines[2]).resolve() != top:
        raise GitRefusedError(
            f"git.top: expected the work tree {top} (nearest .git), saw {lines[2:]} (git).\n"
            f"This means git would answer about other files than those that ran. Look at core.worktree with "
            f'"git -C {top} config --show-origin core.worktree".\n'
            f"Not affected: facts read inside the training process."
        )
    return Path(lines[1]), "sha256" if lines[0] == "sha256" else "sha1"


def _resolve(top: Path, revision: str) -> str | None:
    answer = ask(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", accept=(0, 1))
    if answer.text:
        return answer.text
    named = ask(top, "rev-parse", "--verify", "--quiet", revision, accept=(0, 1)).text
    if revision == "HEAD" and not named:
        return None
    raise GitRefusedError(
        f"git.commit: expected commit {revision} (caller), saw none by that name in {top} (git).\n"
        f"This means the code cannot be compared with that commit. Run "
        f'"git -C {top} log -1 {revision}".\n'
        f"Not affected: facts read inside the training process."
    )


def _tree(top: Path, commit: str) -> dict[str, Blob]:
    tree: dict[str, Blob] = {}
    for record in ask(top, "ls-tree", "-r", "-z", "--full-tree", commit).records:
        head, _, path = record.partition("\t")
        mode, _, identity = head.split(" ")
        tree[path] = Blob(mode=mode, id=identity)
    return tree


def _status(top: Path) -> tuple[tuple[StatusLine, ...] | None, str]:
    question = ("status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=none")
    try:
        records = ask(top, *question, "--untracked-files=normal").records
    except GitRefusedError as refused:
        return None, str(refused)
    return tuple(_status_line(record) for record in records), ""


def _status_line(record: str) -> StatusLine:
    kind, _, rest = record.partition(" ")
    if kind in "?!":
        return StatusLine(path=rest, code=kind * 2)
    code, _, fields = rest.partition(" ")
    path = fields.split(" ", 8 if kind == "u" else 6)[-1]
    return StatusLine(path=path, code=code.replace(".", " "))


def _flags(top: Path) -> tuple[IndexFlag, ...]:
    flags: list[IndexFlag] = []
    for record in ask(top, "ls-files", "-v", "-z").records:
        tag, _, path = record.partition(" ")
        if tag.islower():
            flags.append(IndexFlag(path=path, flag="assume-unchanged"))
        if tag in "Ss":
            flags.append(IndexFlag(path=path, flag="skip-worktree"))
    return tuple(flags)


def _settings(top: Path) -> tuple[Setting, ...]:
    answer = ask(top, "config", "-z", "--get-regexp", _HIDING, accept=(0, 1), resets=False)
    pairs = (record.partition("\n") for record in answer.records)
    return tuple(Setting(key=key, value=value) for key, _, value in pairs)


def recorded_commit(top: Path, commits: Mapping[Path, str] = MappingProxyType({})) -> str | None:
    """The commit that the repository around `top` records for it, or None when it records none.

    Args:
        commits: repository top → commit seen at launch; HEAD where a top is absent.
    Raises:
        GitRefusedError: the outer repository did not answer.
    Source: playbook §4.4; a submodule checked out at another commit than the recorded one looks clean inside.
    Blind to: a superproject that is not checked out around the submodule.
    """
    outer = find_top(top.parent)
    if outer is None:
        return None
    commit = _resolve(outer, commits.get(outer, "HEAD"))
    if commit is None:
        return None
    name = os.fspath(top.relative_to(outer))
    records = ask(outer, "ls-tree", "-z", "--full-tree", commit, "--", name).records
    return next((record.split()[2] for record in records if record.startswith(GITLINK)), None)
