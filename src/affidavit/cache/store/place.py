"""Where entries lie: a few names, each of which is there whole or not at all.

The store asks for no more than this: read a name, put one, put one that nobody put before, list names, set one aside.
An object store offers the same, so nothing above this class knows that here it is done with links and renames.
A lock spares work and decides nothing: without it two builders do the same work twice, and one of them is first.

Source: Delta Lake, Iceberg: a commit is one object that is put only where there is none.
Blind to: a file system that says that data is on the disk when it is not.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".part-"
"""Within the name of what is still being written; nobody reads such a name."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)


class Place:
    """A folder, and names in it as ``folder/name``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        return self.root / name

    def read(self, name: str) -> bytes | None:
        """Return what lies under a name, or None where nothing does."""
        try:
            return self.path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def has(self, name: str) -> bool:
        return self.path(name).exists()

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Return the names in a folder, sorted; what is unfinished has none."""
        try:
            found = sorted(os.listdir(self.path(folder)))  # noqa: PTH208  a store may hold many
        except (FileNotFoundError, NotADirectoryError):
            return ()
        prefix = f"{folder}/" if folder else ""
        return tuple(f"{prefix}{name}" for name in found if UNFINISHED not in name)

    def put(self, name: str, data: bytes) -> None:
        """Put data under a name, in the place of whatever lay there."""
        with self.writing(name) as part:
            part.write_bytes(data)
            self.publish(part, name, over=True)

    def put_new(self, name: str, data: bytes) -> bool:
        """Put data under a name that is free, and say whether it was."""
        with self.writing(name) as part:
            part.write_bytes(data)
            return self.publish(part, name)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Give a private file to write to; whatever was not published of it is removed."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}")
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)

    def publish(self, part: Path, name: str, *, over: bool = False) -> bool:
        """Let a written file be found under a name, all of it on the disk; say False where the name was taken."""
        path = self.path(name)
        _sync(part)
        if over:
            part.replace(path)
        elif not _link(part, path):
            return False
        _sync(path.parent)
        return True

    def set_aside(self, name: str, aside: str) -> str:
        """Move what lies under a name to another that is free, and return that; "" where somebody was faster."""
        free = f"{aside}.{int(time.time())}-{secrets.token_hex(3)}"
        self.path(free).parent.mkdir(parents=True, exist_ok=True)
        try:
            self.path(name).rename(self.path(free))
        except FileNotFoundError:
            return ""
        _sync(self.path(name).parent)
        return free

    def forget(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self.path(name).unlink()

    def sweep(self, folder: str, *, older: float = 0.0) -> None:
        """Remove what killed writers left unfinished.

        Whoever holds the lock of a folder may take all of it, others what is older than any writer lives, in seconds.
        """
        with suppress(FileNotFoundError):
            for name in os.listdir(self.path(folder)):  # noqa: PTH208
                if UNFINISHED in name:
                    path = self.path(folder) / name
                    with suppress(FileNotFoundError):
                        if time.time() - path.stat().st_mtime >= older:
                            path.unlink()

    @contextmanager
    def lock(self, name: str) -> Iterator[int | None]:
        """Wait until nobody else holds a name, and give the descriptor that holds it; None where none can be held."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            yield held if _holds(held) else None
        finally:
            os.close(held)


def _holds(number: int) -> bool:
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


def _link(part: Path, path: Path) -> bool:
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists():
            return False
        part.replace(path)  # of two at once the later is kept, and says the same
    return True


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a folder on a file system that has no such thing
            raise
    finally:
        os.close(number)
