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
from affidavit.observe.error import GitMissingError, GitRefusedError, StampError
from affidavit.observe.generated import is_version_file
from affidavit.observe.identity import FileIdentity, LoadedFile, Refusal
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.outside import came_with_a_model, outside
from affidavit.observe.owner import Owner, OwnerKind, Owners
from affidavit.observe.repository import SYMLINK, ObjectFormat, Repository
from affidavit.observe.stamp import Stamp
from affidavit.observe.verdict import FileVerdict

_AS_COMPARED: Final = {
    Difference.SAME_CONTENT: FileVerdict.COMMITTED,
    Difference.LINE_ENDINGS: FileVerdict.FILTER_ONLY,
    Difference.CHECKOUT: FileVerdict.FILTER_ONLY,
    Difference.HIDDEN: FileVerdict.FILTER_HIDES,
    Difference.EDITED: FileVerdict.MODIFIED,
    Difference.REFUSED: FileVerdict.GIT_REFUSED,
}


@dataclass(frozen=True, kw_only=True)
class CodeIdentity:
    """The identity of every file, in the order given, and the repositories and stamps that answered or refused."""

    files: tuple[FileIdentity, ...]
    repositories: tuple[Repository, ...]
    stamps: tuple[Stamp, ...]
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

    @property
    def is_unheld(self) -> bool:
        return self.identity.verdict is FileVerdict.NOT_IN_COMMIT


_NO_COMMITS: Final[Mapping[Path, str]] = MappingProxyType({})


def identify(
    files: Sequence[LoadedFile],
    interpreter: Interpreter,
    *,
    commits: Mapping[Path, str] = _NO_COMMITS,
    beside: Sequence[Path] = (),
) -> CodeIdentity:
    """Every file has an owner and a verdict; what could not be judged says so.

    A run from a dirty tree names a commit that does not describe it. Git's own answers miss 10 of 16 ways
    to be dirty, so the RAW bytes of each file are compared with the commit's blob, and only the files that
    differ are given to git's filters. What was installed is held against its RECORD.

    Args:
        files: modules that were executed and configs that were opened, with the sha256 seen at that moment.
        interpreter: the environment that executed them.
        commits: repository top → commit id seen at launch; HEAD where a top is absent.
        beside: folders of configs that the run opened, where code that came with a model may have come from.
    Returns:
        Identities in the order of `files`. A file that was edited on disk AFTER it was loaded, and was the
        commit's when it was loaded, is committed: it is what ran.
    Raises:
        GitRefusedError: never; a repository that refuses is in `refusals` and its files read git-refused.
    Source: playbook §4.4; research/anchors-provenance §3 (16 traps), perf-and-libraries §8.
    Blind to: stale .pyc files, monkeypatches, code that was generated in memory, the exec bit, an installed file
        that was edited and put back before anybody looked.
    """
    owners = Owners(interpreter, commits)
    looks = {file: _look(file, owners) for file in files}
    for file, look in looks.items():
        if look.identity.owner.kind is OwnerKind.HUB:  # last: the repositories of the run are known by now
            looks[file] = _followed(look.identity, owners, beside)
    return CodeIdentity(
        files=_settled([looks[file] for file in files], owners),
        repositories=owners.repositories,
        stamps=owners.stamps,
        refusals=tuple(
            Refusal(
                top=top,
                why=str(why),
                is_git_missing=isinstance(why, GitMissingError),
                is_stamp=isinstance(why, StampError),
            )
            for top, why in owners.refusals.items()
        ),
    )


def _look(file: LoadedFile, owners: Owners) -> _Look:
    """What one pass over one file can tell."""
    real = owners.real(file.path)
    owner = owners.owner(real)
    identity = FileIdentity(
        path=file.path,
        real=real,
        owner=owner,
        verdict=FileVerdict.UNREADABLE,
        sha256=None,
        loaded_sha256=file.sha256,
    )
    if owner.kind is not OwnerKind.REPOSITORY or owner.folder is None:
        return _Look(identity=outside(identity, owners, file.seen))
    found = owners.repository(owner.folder)
    digest, why = _digest(real, found.object_format if isinstance(found, Repository) else "sha1")
    identity = replace(identity, sha256=digest.sha256 if digest else None, detail=why)
    if not isinstance(found, Repository):
        return _Look(identity=replace(identity, verdict=FileVerdict.GIT_REFUSED, detail=str(found)))
    identity = replace(identity, witness=found.witness(owner.path))
    look = _inside(identity, digest, found, _link_detail(file.path, owner, owners))
    return _Look(identity=_made(look.identity, owners)) if look.is_unheld else look


def _made(identity: FileIdentity, owners: Owners) -> FileIdentity:
    """The verdict on a file that lies in a repository and is in no commit: somebody else may hold or have made it."""
    owner = owners.target(identity.real)
    if owner is not None:
        return outside(replace(identity, owner=owner), owners)
    if not identity.has_changed and is_version_file(identity.real):
        return replace(identity, verdict=FileVerdict.GENERATED, detail="a version that the build wrote")
    return identity


def _followed(identity: FileIdentity, owners: Owners, beside: Sequence[Path]) -> _Look:
    """The verdict on code that came with a model, which may be that on the file that it was copied from."""
    found = came_with_a_model(identity, owners, beside)
    if isinstance(found, FileIdentity):
        return _Look(identity=found)
    look = _look(found, owners)
    if look.identity.owner.kind in (OwnerKind.HUB, OwnerKind.ORPHAN):
        return _Look(identity=replace(identity, path=found.path, verdict=FileVerdict.ORPHAN))
    return replace(look, identity=replace(look.identity, detail=look.identity.detail or f"it ran as {identity.real}"))


def _digest(real: Path, object_format: ObjectFormat) -> tuple[FileDigest | None, str]:
    try:
        return digest_file(real, object_format), ""
    except OSError as error:
        return None, f"{type(error).__name__}: {error.strerror or error}"


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
    linked into it, is everyday life. The links that setuptools makes for a strict editable install lead to the
    files of those names.
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
        if entry is None and (repository.top != owner.folder or _is_editable(link, path)):
            continue
        target = os.fsencode(step.readlink())
        if entry is None or entry.mode != SYMLINK or entry.id != blob_id(target, repository.object_format):
            return f"reached through {step}, a symbolic link that the commit does not hold"
    return ""


def _is_editable(link: Path, path: Path) -> bool:
    is_made = any(part.startswith("__editable__.") for part in link.parts)
    return is_made and Path(os.path.realpath(path)).name == path.name
