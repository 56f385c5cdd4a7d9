"""A dirty tree kept as a commit that nothing of the user's points to.

`git stash create` loses untracked files and is pruned by the next gc; an automatic commit moves HEAD. A
temporary index, a commit on top of HEAD and a ref of our own do neither.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from affidavit.observe.error import SnapshotError
from affidavit.observe.git import ask
from affidavit.observe.repository import GITLINK, SYMLINK, Repository, find_top
from affidavit.observe.secret import secret_in_content, secret_in_name

_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
AUTHOR: Final = {
    "GIT_AUTHOR_NAME": "Affidavit",
    "GIT_AUTHOR_EMAIL": "affidavit@localhost",
    "GIT_COMMITTER_NAME": "Affidavit",
    "GIT_COMMITTER_EMAIL": "affidavit@localhost",
}


@dataclass(frozen=True, kw_only=True)
class SnapshotLimits:
    """How much may enter the object store."""

    total_bytes: int = 50_000_000
    file_bytes: int = 5_000_000


@dataclass(frozen=True, kw_only=True)
class KeptFile:
    """A file in the snapshot by the sha256 of its raw bytes; "" for a deleted file."""

    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class RefusedFile:
    """A file that the snapshot does not hold, and why."""

    path: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A commit that holds what ran, under a ref of ours; it is NOT the commit it was built on."""

    ref: str
    commit: str
    tree: str
    parent: str | None
    kept: tuple[KeptFile, ...]
    refused: tuple[RefusedFile, ...]

    @property
    def is_complete(self) -> bool:
        """Every file that was asked for is in the snapshot."""
        return not self.refused


@dataclass(frozen=True, kw_only=True)
class _Content:
    path: str
    mode: str
    raw: bytes


def take(repository: Repository, paths: Sequence[Path], run: str, *, limits: SnapshotLimits | None = None) -> Snapshot:
    """The given files and every tracked edit are in a commit under `refs/affidavit/<run>`.

    Index, HEAD, branches, stash and work tree are byte-identical afterwards; the object store grows by the
    kept files. Raw bytes are stored, no clean filter runs: a filter could rewrite away the very edit.

    Args:
        repository: as read; its status names the tracked edits.
        paths: files that ran or were opened and deviate, ignored ones included.
        run: the run's id, the last part of the ref.
        limits: caps on the bytes that enter the object store, deduplicated by path.
    Returns:
        The snapshot. Files over a cap, with a secret in name or content, of another repository, or that
        are no plain file are in `refused` and keep the commit's state in the tree.
    Raises:
        SnapshotError: the run id is no ref name, or git did not say what is edited.
        GitRefusedError: the repository cannot be written, or the ref exists already.
    Source: playbook §4.4; research/anchors-provenance §3b.
    Blind to: submodules, which are stored as the commit the superproject records: take one snapshot per
        repository; tracked edits under assume-unchanged or skip-worktree that did not run; empty folders.
    """
    if not is_ref_name(run):
        raise _impossible("run id", "a plain name (letters, digits, . _ -)", repr(run))
    if repository.status is None:
        raise _impossible("tracked edits", "a list of tracked edits (git status)", repository.status_refusal)
    wanted, refused = _wanted(repository, paths)
    contents, deleted, over = _contents(repository, wanted, limits or SnapshotLimits())
    with tempfile.TemporaryDirectory(prefix="affidavit-") as folder:
        tree = _write_tree(repository, contents, deleted, Path(folder) / "index")
    parent = ("-p", repository.commit) if repository.commit else ()
    message = f"affidavit snapshot of {run}\n".encode()
    made = ask(repository.top, "commit-tree", "--no-gpg-sign", *parent, tree, stdin=message, extra=AUTHOR).text
    ref = f"refs/affidavit/{run}"
    ask(repository.top, "update-ref", ref, made, "0" * len(made))
    kept = [KeptFile(path=c.path, sha256=hashlib.sha256(c.raw).hexdigest()) for c in contents]
    kept += [KeptFile(path=path, sha256="") for path in deleted]
    return Snapshot(
        ref=ref,
        commit=made,
        tree=tree,
        parent=repository.commit,
        kept=tuple(kept),
        refused=(*refused, *over),
    )


def is_ref_name(run: str) -> bool:
    """Say whether a run's id can be the last part of a ref."""
    return _RUN.fullmatch(run) is not None and not run.endswith((".", ".lock")) and ".." not in run


def _wanted(repository: Repository, paths: Iterable[Path]) -> tuple[list[str], list[RefusedFile]]:
    """Paths as the commit spells them; what another repository owns is refused."""
    wanted: dict[str, None] = {}
    refused: list[RefusedFile] = []
    for path in paths:
        real = Path(os.path.realpath(path))
        if find_top(real.parent) == repository.top:
            wanted[repository.relative(real)] = None
        else:
            refused.append(RefusedFile(path=os.fspath(path), why="belongs to another repository, or to none"))
    for line in repository.status or ():
        entry = repository.blobs.get(line.path)
        if entry is not None and entry.mode == GITLINK:
            why = "a submodule: stored as the recorded commit; take a snapshot of it"
            refused.append(RefusedFile(path=line.path, why=why))
        elif line.code != "??":
            wanted[line.path] = None
    return list(wanted), refused


def _contents(
    repository: Repository, wanted: Sequence[str], limits: SnapshotLimits
) -> tuple[list[_Content], list[str], list[RefusedFile]]:
    """The bytes to keep, the paths that are gone, and the files that must stay out."""
    contents: list[_Content] = []
    deleted: list[str] = []
    refused: list[RefusedFile] = []
    room = limits.total_bytes
    for path in wanted:
        if not os.path.lexists(repository.top / path):
            deleted.append(path)
            continue
        found = _content(repository, path, min(limits.file_bytes, room), limits)
        if isinstance(found, RefusedFile):
            refused.append(found)
        else:
            contents.append(found)
            room -= len(found.raw)
    return contents, deleted, refused


def _content(repository: Repository, path: str, room: int, limits: SnapshotLimits) -> _Content | RefusedFile:
    """One file's bytes, read once and inspected before anything is written."""
    target = repository.top / path
    named = secret_in_name(PurePosixPath(path))
    if named is not None:
        return RefusedFile(path=path, why=f"{named}: it may be a secret")
    try:
        status = target.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _Content(path=path, mode=SYMLINK, raw=os.fsencode(target.readlink()))
        if not stat.S_ISREG(status.st_mode):
            return RefusedFile(path=path, why="not a regular file")
        if status.st_size > room:
            cap = limits.file_bytes if status.st_size > limits.file_bytes else limits.total_bytes
            return RefusedFile(path=path, why=f"{status.st_size} bytes; the cap is {cap}")
        with target.open("rb") as stream:
            raw = stream.read(status.st_size + 1)
        if len(raw) != status.st_size:
            return RefusedFile(path=path, why="its size changed while it was read")
    except OSError as error:
        return RefusedFile(path=path, why=f"{type(error).__name__}: {error.strerror}")
    held = secret_in_content(raw)
    if held is not None:
        return RefusedFile(path=path, why=held)
    mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
    return _Content(path=path, mode=mode, raw=raw)


def _write_tree(repository: Repository, contents: Sequence[_Content], deleted: Sequence[str], index: Path) -> str:
    """The tree of HEAD with the contents laid over it, built in an index that nobody else sees."""
    extra = {"GIT_INDEX_FILE": os.fspath(index)}
    start = (repository.commit,) if repository.commit else ("--empty",)
    ask(repository.top, "-c", "core.sparseCheckout=false", "read-tree", *start, extra=extra)
    null = "0" * (64 if repository.object_format == "sha256" else 40)
    records = [f"0 {null}\t{path}" for path in deleted]
    for content in contents:
        blob = ask(repository.top, "hash-object", "-w", "--stdin", "--no-filters", stdin=content.raw).text
        records.append(f"{content.mode} {blob}\t{content.path}")
    stdin = b"".join(os.fsencode(record) + b"\0" for record in records)
    ask(repository.top, "update-index", "-z", "--add", "--replace", "--index-info", stdin=stdin, extra=extra)
    return ask(repository.top, "write-tree", extra=extra).text


def _impossible(what: str, expected: str, saw: str) -> SnapshotError:
    return SnapshotError(
        f"snapshot.{what.replace(' ', '_')}: expected {expected}, saw {saw}.\n"
        f'This means no snapshot was taken. Run "affidavit run --tree=refuse" or commit.\n'
        f"Not affected: index, HEAD, branches, stash and work tree; nothing was written."
    )
