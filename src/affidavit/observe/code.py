"""Every file that ran, with its owner and whether the owner's record describes its bytes.

A commit id beside a run says nothing when the imported file is staged, untracked, ignored, flagged
`assume-unchanged` or hidden by a filter. So the question starts from what was loaded, not from what git lists.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from affidavit.observe.comparison import Comparison, Difference, committed_bytes, compare
from affidavit.observe.digest import FileDigest, blob_id, digest_file
from affidavit.observe.error import GitMissingError, GitRefusedError
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.owner import Owner, OwnerKind, Owners
from affidavit.observe.repository import SYMLINK, ObjectFormat, Repository


class FileVerdict(Enum):
    """Whether the bytes that ran are the bytes that their owner's record describes."""

    COMMITTED = "committed"
    FILTER_ONLY = "filter-only"
    FILTER_HIDES = "filter-hides"
    MODIFIED = "modified"
    NOT_IN_COMMIT = "not-in-commit"
    CHANGED_SINCE = "changed-since"
    UNREADABLE = "unreadable"
    INSTALLED = "installed"
    STDLIB = "stdlib"
    ORPHAN = "orphan"
    GIT_REFUSED = "git-refused"


_AS_OWNED: Final = {
    OwnerKind.DISTRIBUTION: FileVerdict.INSTALLED,
    OwnerKind.STDLIB: FileVerdict.STDLIB,
    OwnerKind.ORPHAN: FileVerdict.ORPHAN,
}

_AS_COMPARED: Final = {
    Difference.SAME_CONTENT: FileVerdict.COMMITTED,
    Difference.LINE_ENDINGS: FileVerdict.FILTER_ONLY,
    Difference.CHECKOUT: FileVerdict.FILTER_ONLY,
    Difference.HIDDEN: FileVerdict.FILTER_HIDES,
    Difference.EDITED: FileVerdict.MODIFIED,
    Difference.REFUSED: FileVerdict.GIT_REFUSED,
}


@dataclass(frozen=True, kw_only=True)
class LoadedFile:
    """A module that was executed or a config that was opened; `sha256` is of the bytes seen then, if seen."""

    path: Path
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileIdentity:
    """One file's owner and verdict.

    `sha256` is of the bytes on disk now, `witness` the letters of `git status` ("" when it is silent, None
    when nobody was asked), `detail` what a reader needs beside the verdict.
    """

    path: Path
    real: Path
    owner: Owner
    verdict: FileVerdict
    sha256: str | None
    loaded_sha256: str | None
    witness: str | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A repository that did not answer, and its message."""

    top: Path
    why: str
    is_git_missing: bool


@dataclass(frozen=True, kw_only=True)
class CodeIdentity:
    """The identity of every file, in the order given, and the repositories that answered or refused."""

    files: tuple[FileIdentity, ...]
    repositories: tuple[Repository, ...]
    refusals: tuple[Refusal, ...]


class _Open(Enum):
    """A question that one git process answers for many files together."""

    NONE = "none"
    BYTES = "bytes on disk against the commit"
    LOADED = "bytes at load against the commit"


@dataclass(frozen=True, kw_only=True)
class _Look:
    identity: FileIdentity
    question: _Open = _Open.NONE


_NO_COMMITS: Final[Mapping[Path, str]] = MappingProxyType({})


def identify(
    files: Sequence[LoadedFile], interpreter: Interpreter, *, commits: Mapping[Path, str] = _NO_COMMITS
) -> CodeIdentity:
    """Every file has an owner and a verdict; what could not be judged says so.

    A run from a dirty tree names a commit that does not describe it. Git's own answers miss 10 of 16 ways
    to be dirty, so the RAW bytes of each file are compared with the commit's blob, and only the files that
    differ are given to git's filters.

    Args:
        files: modules that were executed and configs that were opened, with the sha256 seen at that moment.
        interpreter: the environment that executed them.
        commits: repository top → commit id seen at launch; HEAD where a top is absent.
    Returns:
        Identities in the order of `files`. A file that was edited on disk AFTER it was loaded, and was the
        commit's when it was loaded, is committed: it is what ran.
    Raises:
        GitRefusedError: never; a repository that refuses is in `refusals` and its files read git-refused.
    Source: playbook §4.4; research/anchors-provenance §3 (16 traps), perf-and-libraries §8.
    Blind to: stale .pyc files, monkeypatches, code that was generated in memory, the exec bit, and whether
        an installed file still equals the hash in its RECORD.
    """
    owners = Owners(interpreter, commits)
    looks = [_look(file, owners) for file in files]
    return CodeIdentity(
        files=_settled(looks, owners),
        repositories=owners.repositories,
        refusals=tuple(
            Refusal(top=top, why=str(why), is_git_missing=isinstance(why, GitMissingError))
            for top, why in owners.refusals.items()
        ),
    )


def _look(file: LoadedFile, owners: Owners) -> _Look:
    """What one pass over one file can tell."""
    real = Path(os.path.realpath(file.path))
    owner = owners.owner(real)
    found = owners.repository(owner.folder) if owner.kind is OwnerKind.REPOSITORY and owner.folder else None
    digest, why = _digest(real, found.object_format if isinstance(found, Repository) else "sha1")
    identity = FileIdentity(
        path=file.path,
        real=real,
        owner=owner,
        verdict=FileVerdict.UNREADABLE,
        sha256=digest.sha256 if digest else None,
        loaded_sha256=file.sha256,
        detail=why,
    )
    if found is None:
        return _Look(identity=_outside(identity))
    if not isinstance(found, Repository):
        return _Look(identity=replace(identity, verdict=FileVerdict.GIT_REFUSED, detail=str(found)))
    identity = replace(identity, witness=found.witness(owner.path))
    return _inside(identity, digest, found, _link_detail(file.path, owner, owners))


def _digest(real: Path, object_format: ObjectFormat) -> tuple[FileDigest | None, str]:
    try:
        return digest_file(real, object_format), ""
    except OSError as error:
        return None, f"{type(error).__name__}: {error.strerror or error}"


def _outside(identity: FileIdentity) -> FileIdentity:
    """The verdict on a file that no repository owns."""
    if identity.sha256 is None:
        return identity
    verdict = _AS_OWNED[identity.owner.kind]
    if identity.loaded_sha256 in (None, identity.sha256):
        return replace(identity, verdict=verdict)
    changed = verdict if verdict is FileVerdict.ORPHAN else FileVerdict.CHANGED_SINCE
    return replace(identity, verdict=changed, detail="the bytes on disk are not those that were loaded")


def _inside(identity: FileIdentity, digest: FileDigest | None, repository: Repository, link: str) -> _Look:
    """The verdict on a file of a repository, or the question that is still open."""
    entry = repository.blobs.get(identity.owner.path)
    if digest is None and identity.loaded_sha256 is None:
        return _Look(identity=identity)
    if entry is None:
        detail = "nothing is committed yet" if repository.commit is None else identity.detail
        return _Look(identity=replace(identity, verdict=FileVerdict.NOT_IN_COMMIT, detail=detail))
    if link:
        return _Look(identity=replace(identity, verdict=FileVerdict.MODIFIED, detail=link))
    if digest is None or identity.loaded_sha256 not in (None, digest.sha256):
        return _Look(identity=identity, question=_Open.LOADED)
    if entry.mode != SYMLINK and entry.id == digest.blob:
        return _Look(identity=replace(identity, verdict=FileVerdict.COMMITTED))
    return _Look(identity=identity, question=_Open.BYTES)


def _settled(looks: Sequence[_Look], owners: Owners) -> tuple[FileIdentity, ...]:
    """The identities with every open question answered, a few git processes a repository."""
    compared: dict[Path, Comparison] = {}
    committed: dict[Path, str | GitRefusedError] = {}
    for repository in owners.repositories:
        differing = _asked(looks, repository, _Open.BYTES)
        if differing:
            answers = compare(repository, differing)
            compared |= {repository.top / path: answer for path, answer in answers.items()}
        moved = _asked(looks, repository, _Open.LOADED)
        if moved:
            committed |= {repository.top / path: sha for path, sha in _committed(repository, moved).items()}
    return tuple(_answered(look, compared, committed) for look in looks)


def _asked(looks: Sequence[_Look], repository: Repository, question: _Open) -> list[str]:
    paths = (
        look.identity.owner.path
        for look in looks
        if look.question is question and look.identity.owner.folder == repository.top
    )
    return list(dict.fromkeys(paths))


def _committed(repository: Repository, paths: Sequence[str]) -> Mapping[str, str | GitRefusedError]:
    try:
        contents = committed_bytes(repository, paths)
    except GitRefusedError as refused:
        return dict.fromkeys(paths, refused)
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}


def _answered(
    look: _Look, compared: Mapping[Path, Comparison], committed: Mapping[Path, str | GitRefusedError]
) -> FileIdentity:
    identity = look.identity
    match look.question:
        case _Open.NONE:
            return identity
        case _Open.BYTES:
            found = compared[identity.real]
            return replace(identity, verdict=_AS_COMPARED[found.difference], detail=found.detail)
        case _Open.LOADED:
            sha256 = committed[identity.real]
            if isinstance(sha256, GitRefusedError):
                return replace(identity, verdict=FileVerdict.GIT_REFUSED, detail=str(sha256))
            if sha256 == identity.loaded_sha256:
                detail = "the commit's bytes were loaded; the file on disk changed afterwards"
                return replace(identity, verdict=FileVerdict.COMMITTED, detail=detail)
            detail = "neither the commit nor the disk holds the bytes that were loaded"
            return replace(identity, verdict=FileVerdict.CHANGED_SINCE, detail=detail)


def _link_detail(path: Path, owner: Owner, owners: Owners) -> str:
    """What is wrong with a symbolic link on the way to the file; "" when the commit says the same.

    An untracked link counts only beside the file's own repository: a home folder under git, with projects
    linked into it, is everyday life.
    """
    absolute = path.absolute()
    for step in (absolute, *absolute.parents):
        if not step.is_symlink():
            continue
        link = Path(os.path.realpath(step.parent)) / step.name
        top = owners.top(link.parent)
        repository = owners.repository(top) if top is not None else None
        if not isinstance(repository, Repository):
            continue
        entry = repository.blobs.get(repository.relative(link))
        if entry is None and repository.top != owner.folder:
            continue
        target = os.fsencode(step.readlink())
        if entry is None or entry.mode != SYMLINK or entry.id != blob_id(target, repository.object_format):
            return f"reached through {step}, a symbolic link that the commit does not hold"
    return ""
