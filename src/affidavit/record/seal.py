"""A run is sealed once, by anyone, and no second seal can take the place of the first.

The manifest is written whole, synced, and linked under its name; a link cannot replace what is there. ``head.json``
then holds the manifest's digest and the state of the annotation chain.

Source: anchors-provenance §4 and §11.3 (attack matrix, run).
Blind to: who rewrites manifest, chain and head together; only a witness outside this folder shows that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.values import Digest, ValueShapeError
from affidavit.record import canonical, manifest
from affidavit.record.manifest import Manifest

HEAD_FORMAT = 1
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class SealError(AffidavitError):
    """A seal is missing, broken, or contradicts what it seals."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the folder says of itself: the manifest's digest, how many annotations follow, the digest of the last.

    ``last`` is the manifest's digest while there is no annotation.
    """

    manifest: Digest
    count: int
    last: Digest

    def encode(self) -> bytes:
        return canonical.encode(
            {"format": HEAD_FORMAT, "manifest": str(self.manifest), "count": self.count, "last": str(self.last)}
        )


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A manifest whose bytes are those that were sealed, with its digest and the head."""

    manifest: Manifest
    digest: Digest
    head: Head


def is_sealed(folder: Path) -> bool:
    return (folder / names.MANIFEST).is_file() and (folder / names.HEAD).is_file()


def seal(folder: Path, document: Manifest) -> Digest:
    """Return the digest under which the run is sealed; a run that is sealed already keeps the seal it has.

    Raises:
        ManifestError: the manifest is larger than it may be.
        SealError: annotations are there and the head that names them is not.
        OSError: the folder cannot be written.
    """
    raw = manifest.encode(document)
    if not place_once(folder / names.MANIFEST, raw):
        raw = read_bytes(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
    digest = canonical.digest_bytes(raw)
    if not (folder / names.HEAD).exists():
        if (folder / names.ANNOTATIONS).exists():
            raise _broken(folder, f"{names.HEAD} beside {names.ANNOTATIONS}", "annotations without a head")
        place_once(folder / names.HEAD, Head(manifest=digest, count=0, last=digest).encode())
    return digest


def read_sealed(folder: Path) -> Sealed:
    """Return a sealed manifest; its facts reach readers through :mod:`affidavit.record.fold` only.

    Raises:
        SealError: not sealed, a link in place of a file, or bytes that are not those that were sealed.
        ManifestError: bytes that are no manifest.
    """
    raw = read_bytes(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
    head = read_head(folder)
    digest = canonical.digest_bytes(raw)
    if digest != head.manifest:
        raise _broken(folder, f"{names.MANIFEST} with {head.manifest} ({names.HEAD})", str(digest))
    return Sealed(manifest=manifest.decode(raw, source=str(folder / names.MANIFEST)), digest=digest, head=head)


def read_head(folder: Path) -> Head:
    """Return the head.

    Raises:
        SealError: missing, of a newer format, or no head at all.
    """
    raw = read_bytes(folder / names.HEAD, limit=4096)
    try:
        match canonical.parse(raw):
            case {"format": 1, "manifest": str(sealed), "count": int(count), "last": str(last), **rest} if not rest:
                return Head(manifest=Digest.parse(sealed), count=count, last=Digest.parse(last))
    except (canonical.CanonicalError, ValueShapeError) as error:
        raise _broken(folder, f"a {names.HEAD} of format {HEAD_FORMAT}", str(error)) from error
    raise _broken(folder, f"a {names.HEAD} of format {HEAD_FORMAT}", f"{raw!r:.120}")


def place_once(path: Path, raw: bytes) -> bool:
    """Put a read-only file under a name that is free, whole or not at all; say False where the name is taken."""
    with _written(path, raw, mode=0o444) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create(path, raw)
        _sync(path.parent)
    return True


def replace(path: Path, raw: bytes) -> None:
    """Put a file in the place of another in one step, so that a reader sees the old one or the new one."""
    with _written(path, raw, mode=0o644) as temporary:
        temporary.replace(path)
        _sync(path.parent)


def read_bytes(path: Path, *, limit: int) -> bytes:
    """Return the bytes of a plain file in the run folder.

    Raises:
        SealError: missing, a link, no plain file, or larger than it may be.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _broken(path.parent, f"a plain file {path.name}", error.strerror or str(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            raise _broken(path.parent, f"a plain file {path.name} of {limit:,} bytes at most", f"{status.st_size:,}")
        return file.read()


@contextlib.contextmanager
def _written(path: Path, raw: bytes, *, mode: int) -> Iterator[Path]:
    """Give a synced file beside ``path`` that holds the bytes, and take it away again."""
    descriptor, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _create(path: Path, raw: bytes) -> bool:
    """Do what a link does on a file system without links: the name is taken in one step, the bytes follow at once."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(descriptor)
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _broken(folder: Path, expected: str, saw: str) -> SealError:
    return SealError(
        refusal(
            subject=f"seal of {folder.name}",
            expected=expected,
            saw=saw,
            means="This run's record is not the one that was sealed, or was never sealed.",
            action=f'Run "affidavit verify {folder.name}".',
            unaffected="the run's checkpoints, and its journals where they are still there",
        )
    )
