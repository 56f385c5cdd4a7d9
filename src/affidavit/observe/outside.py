"""The verdict on a file that no repository owns: RECORD, a stamp, the hub or nobody describes its bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from affidavit.observe import hub
from affidavit.observe import stamp as stamps
from affidavit.observe.digest import blob_id, digest_file, installed_digest
from affidavit.observe.error import StampError
from affidavit.observe.generated import is_version_file
from affidavit.observe.identity import FileIdentity, LoadedFile
from affidavit.observe.owner import OwnerKind, Owners
from affidavit.observe.verdict import FileVerdict


def outside(identity: FileIdentity, owners: Owners, seen: str = "") -> FileIdentity:
    """The identity with its verdict; that of code which came with a model is left open.

    Args:
        seen: size and time of change of an installed file when it was loaded, "" where nobody looked.
    Source: playbook §4.4; anchors-provenance §3 (rows 10 and 31 of its table: no tracker looks at RECORD).
    Blind to: what is blind to it, :meth:`affidavit.observe.distribution.Site.digests` and `stamp.read`.
    """
    kind, digests = identity.owner.kind, identity.owner.digests
    if kind in (OwnerKind.DISTRIBUTION, OwnerKind.STDLIB) and identity.loaded_sha256 is None and not digests:
        return _there(identity)
    try:
        identity = _read(identity, seen)
    except OSError as error:
        if identity.loaded_sha256 is None or kind is OwnerKind.ORPHAN:
            return replace(identity, detail=_said(error))
    match kind:
        case OwnerKind.DISTRIBUTION if digests:
            return _by_record(identity)
        case OwnerKind.STAMP:
            return _by_stamp(identity, owners)
        case OwnerKind.ORPHAN:
            detail = "the bytes on disk are not those that were loaded" if identity.has_changed else ""
            return replace(identity, verdict=FileVerdict.ORPHAN, detail=detail)
    if identity.has_changed:
        detail = "the bytes on disk are not those that were loaded"
        return replace(identity, verdict=FileVerdict.CHANGED_SINCE, detail=detail)
    return replace(identity, verdict=FileVerdict.STDLIB if kind is OwnerKind.STDLIB else FileVerdict.INSTALLED)


def _read(identity: FileIdentity, seen: str) -> FileIdentity:
    """The identity with the digest of the bytes on disk."""
    if identity.owner.kind is not OwnerKind.DISTRIBUTION:
        return replace(identity, sha256=digest_file(identity.real).sha256)
    found = installed_digest(os.fspath(identity.real))
    return replace(identity, sha256=found.sha256, is_rewritten=bool(seen) and found.seen != seen)


def _there(identity: FileIdentity) -> FileIdentity:
    """A file whose bytes nothing describes and nobody saw: reading them would decide nothing."""
    if not os.path.isfile(identity.real):  # noqa: PTH113  hundreds of files, each asked once
        return replace(identity, detail="not a regular file")
    is_library = identity.owner.kind is OwnerKind.STDLIB
    return replace(identity, verdict=FileVerdict.STDLIB if is_library else FileVerdict.INSTALLED)


def _by_record(identity: FileIdentity) -> FileIdentity:
    ran = identity.loaded_sha256 or identity.sha256
    if ran in identity.owner.digests:
        return replace(identity, verdict=FileVerdict.INSTALLED)
    if identity.loaded_sha256 is None and identity.is_rewritten:
        return replace(identity, verdict=FileVerdict.INSTALLED, detail="rewritten after it was loaded")
    return replace(identity, verdict=FileVerdict.DIFFERS_FROM_RECORD, detail=f"RECORD of {identity.owner} names others")


def _by_stamp(identity: FileIdentity, owners: Owners) -> FileIdentity:
    assert identity.owner.folder is not None
    stamp = owners.stamp(identity.owner.folder)
    if isinstance(stamp, StampError):
        return replace(identity, verdict=FileVerdict.STAMP_REFUSED, detail=str(stamp))
    verdict, detail = stamps.judge(stamp, identity.owner.path, identity.loaded_sha256 or identity.sha256 or "")
    identity = replace(identity, verdict=verdict, detail=detail)
    if verdict is not FileVerdict.NOT_IN_STAMP:
        return identity
    owner = owners.target(identity.real)
    if owner is not None:
        return outside(replace(identity, owner=owner), owners)
    if not identity.has_changed and is_version_file(identity.real):
        return replace(identity, verdict=FileVerdict.GENERATED, detail="a version that the build wrote")
    return identity


def came_with_a_model(identity: FileIdentity, owners: Owners, beside: Sequence[Path]) -> FileIdentity | LoadedFile:
    """The verdict on code that came with a model, or the file that it was copied from, which answers for it.

    Source: transformers' ``dynamic_module_utils``; evaluate's ``loading``; the layout of the hub's cache.
    Blind to: a commit whose cache is not here; there the path's word is taken.
    """
    file = hub.hub_file(identity.real)
    source = hub.origin(file, beside) if file is not None else None
    try:
        content = _on_disk(identity.real) if identity.loaded_sha256 else identity.real.read_bytes()
        identity = replace(identity, sha256=hashlib.sha256(content).hexdigest())
        if identity.has_changed:  # another run may have written the copy anew, or taken it away
            if source is None or not _is(source, identity.loaded_sha256):
                return _changed(identity, source)
            content = source.read_bytes()
    except OSError as error:
        return replace(identity, verdict=FileVerdict.UNREADABLE, detail=_said(error))
    if not content and identity.real.name == "__init__.py":
        return replace(identity, verdict=FileVerdict.GENERATED, detail="empty, made with the folder")
    commit = hub.downloaded_from(source, content) if source is not None else ""
    if commit:
        return replace(identity, owner=replace(identity.owner, version=commit), verdict=FileVerdict.HUB)
    if file is not None and file.commit:
        if source is None:
            return replace(identity, verdict=FileVerdict.HUB, detail="by its path; no cache of the hub to compare with")
        return replace(identity, verdict=FileVerdict.DIFFERS_FROM_HUB, detail=f"{source} holds other bytes")
    if source is not None:
        return LoadedFile(path=source, sha256=hashlib.sha256(content).hexdigest())
    copied = _committed_elsewhere(identity.real, content, owners)
    if copied:
        return replace(identity, verdict=FileVerdict.COMMITTED, detail=f"a copy of {copied}")
    if file is not None and "://" in file.noted:
        return replace(identity, verdict=FileVerdict.HUB, detail=f"by its loader's note: {file.noted}")
    return replace(identity, verdict=FileVerdict.ORPHAN, detail="copied from a folder that nobody knows")


def _on_disk(path: Path) -> bytes:
    """The bytes of a copy, or none where it is gone: what ran is known by its digest."""
    return path.read_bytes() if path.exists() else b""


def _is(path: Path, sha256: str | None) -> bool:
    return hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _changed(identity: FileIdentity, source: Path | None) -> FileIdentity | LoadedFile:
    """What is left to ask of code whose copy and origin both changed after it was loaded: a commit may hold it."""
    if source is not None and not identity.owner.version:
        return LoadedFile(path=source, sha256=identity.loaded_sha256)
    detail = "the bytes on disk are not those that were loaded"
    return replace(identity, verdict=FileVerdict.CHANGED_SINCE, detail=detail)


def _committed_elsewhere(path: Path, content: bytes, owners: Owners) -> str:
    """A file of that name and those bytes in a commit that the run stands on, or ""."""
    for repository in owners.repositories:
        blob = blob_id(content, repository.object_format)
        for held, entry in repository.blobs.items():
            if entry.id == blob and PurePosixPath(held).name == path.name:
                return f"{repository.top.name}@{repository.commit}:{held}"
    return ""


def _said(error: OSError) -> str:
    return f"{type(error).__name__}: {error.strerror or error}"
