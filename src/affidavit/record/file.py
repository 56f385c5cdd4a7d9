"""Files that appear whole or not at all, and are read only where they are plain files of a bearable size."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from tempfile import mkstemp

from affidavit.fact.errors import AffidavitError

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class FileShapeError(AffidavitError):
    """What lies under a name is not the plain file that was expected there."""


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


def read(path: Path, *, limit: int) -> bytes:
    """Return the bytes of a plain file.

    Raises:
        FileShapeError: missing, a link, a pipe or a folder, or larger than it may be.
    """
    with _opened(path, limit) as opened:
        return opened.read()


def sha256(path: Path, *, limit: int) -> str:
    """Return the SHA-256 of a plain file, in hexadecimal, read a piece at a time.

    Raises:
        FileShapeError: as in :func:`read`.
    """
    with _opened(path, limit) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextlib.contextmanager
def _opened(path: Path, limit: int) -> Iterator[BufferedReader]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        told = "a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise FileShapeError(told) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise FileShapeError("no plain file")
    with os.fdopen(descriptor, "rb") as opened:
        if status.st_size > limit:
            raise FileShapeError(f"{status.st_size:,} bytes, {limit:,} allowed")
        yield opened


@contextlib.contextmanager
def _written(path: Path, raw: bytes, *, mode: int) -> Iterator[Path]:
    """Give a synced file beside ``path`` that holds the bytes, and take it away again."""
    descriptor, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(raw)
            opened.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep every other writer of a folder out who asks here, too; the kernel lets go of it when the process ends.

    Blind to: file systems without locks; whoever writes there reads back what was written.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _create(path: Path, raw: bytes) -> bool:
    """Do what a link does on a file system without links: the name is taken in one step, the bytes follow at once."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(raw)
        opened.flush()
        os.fsync(descriptor)
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
