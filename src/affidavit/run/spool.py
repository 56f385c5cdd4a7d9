"""Where a run's processes write: a private folder of this node's own, copied to the run folder at phase ends.

A training loop that writes to a network file system waits for it, and one that is mapped there dies with it. So every
process writes to memory or a local disk, and only the supervisor touches the shared folder.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from affidavit.attach.launch import Launch, LaunchError
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal

NEEDED_BYTES = 256 * 1024 * 1024
SHARED_MEMORY = Path("/dev/shm")
LOST_SECONDS = 24 * 3600.0
_SETTLED_NS = 100_000_000
"""A file written to within this time may be written to again at the same time of modification, as the kernel counts."""
PUBLISHED = (names.EVIDENCE, names.TOKENS, names.PANELS, names.STACKS)
"""The folders of a spool that belong to the record; a rehearsal's scratch copies of the user's files do not."""


class SpoolError(AffidavitError):
    """There is no node-local folder that is ours alone."""


def open_spool(run: str, attempt: int, *, places: tuple[Path, ...] | None = None) -> Path:
    """Return the private folder of one attempt on this node; several supervisors of one attempt share it.

    Raises:
        SpoolError: every place is full, read-only, or holds a folder of that name that belongs to somebody else.
    """
    complaints: list[str] = []
    for place in places or (SHARED_MEMORY, Path(tempfile.gettempdir())):
        try:
            room = os.statvfs(place)
            if room.f_bavail * room.f_frsize < NEEDED_BYTES:
                complaints.append(f"{place} has {room.f_bavail * room.f_frsize // 2**20} MiB free")
                continue
            ours = _private(place / f"affidavit-{os.geteuid()}")
            _forget_lost(ours)
            return _private(_private(ours / run) / str(attempt))
        except OSError as error:
            complaints.append(f"{place}: {error.strerror or error}")
    raise SpoolError(
        refusal(
            subject="spool",
            expected=f"a private folder on this node with {NEEDED_BYTES // 2**20} MiB free",
            saw="; ".join(complaints),
            means="The processes of the run could not write down what they see.",
            action="Free some room, or point TMPDIR at a local disk.",
            unaffected="the command, which was not started",
        )
    )


def publish(spool: Path, folder: Path) -> tuple[str, ...]:
    """Copy what is new in a spool to the run folder, each file by an atomic rename; return what could not be copied.

    Raises nothing: a full or vanished run folder must not end a training run, and the spool still holds everything.
    """
    problems: list[str] = []
    for source in _files(spool, problems):
        target = folder / source.relative_to(spool)
        try:
            if not _is_current(source, target):
                _copy(source, target)
        except OSError as error:
            problems.append(f"{source.relative_to(spool)}: {error.strerror or error}")
    return tuple(problems)


def remove(spool: Path) -> None:
    """Remove the spool of an attempt whose files are all published, and the folders above it that it leaves empty."""
    shutil.rmtree(spool, ignore_errors=True)
    for above in (spool.parent, spool.parent.parent):
        try:
            above.rmdir()
        except OSError:
            return


def is_spool(path: Path, *, run: str, attempt: int) -> bool:
    """Say whether a path that a run folder names is where :func:`open_spool` puts that attempt of that run.

    What is read from a spool is published, and then the spool is removed. A run folder that somebody else wrote could
    name any folder of ours.
    """
    run_folder, ours = path.parent, path.parent.parent
    try:
        found = [folder.lstat() for folder in (ours, run_folder, path)]
    except OSError:
        return False
    owner = found[0].st_uid
    named = (ours.name, run_folder.name, path.name) == (f"affidavit-{owner}", run, str(attempt))
    private = all(stat.S_ISDIR(one.st_mode) and one.st_uid == owner for one in found)
    return named and private and os.geteuid() in (owner, 0)


def _forget_lost(ours: Path) -> None:
    """Remove old spools whose run folder is gone: nobody will ever seal those, and this may be memory."""
    for launch in ours.glob("*/*/launch.*.json"):
        try:
            is_old = time.time() - launch.stat().st_mtime > LOST_SECONDS
            if is_old and not Path(Launch.read(launch).folder).exists():
                remove(launch.parent)
        except (OSError, LaunchError):
            continue  # another attempt removes it just now, or it is not ours to read


def _private(folder: Path) -> Path:
    """Return a folder that is ours and readable by nobody else; a link or another owner's folder is refused."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def _files(spool: Path, problems: list[str]) -> Iterator[Path]:
    """Yield the plain files of the record; a link in a spool would let its writer copy any file of the user's."""
    for place in (spool, *(spool / name for name in PUBLISHED)):
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(f"{place.name}: {error.strerror or error}")
            continue
        yield from (Path(entry) for entry in entries if entry.is_file(follow_symlinks=False))


def _is_current(source: Path, target: Path) -> bool:
    try:
        there = target.stat()
    except FileNotFoundError:
        return False
    here = source.stat()
    return there.st_size == here.st_size and there.st_mtime_ns >= here.st_mtime_ns


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        before = source.stat()
        shutil.copy2(source, temporary, follow_symlinks=False)
        is_settled = time.time_ns() - before.st_mtime_ns > _SETTLED_NS
        os.utime(temporary, ns=(before.st_atime_ns, before.st_mtime_ns - (not is_settled)))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
