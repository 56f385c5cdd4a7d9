"""The files of a project's tree: which there are, what they hold, and whether anything was done to them.

Blind to: what git ignores; the inside of a submodule.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from affidavit.observe import git
from affidavit.observe.error import ObserveError
from affidavit.record import file
from affidavit.record.file import FileShapeError
from affidavit.record.ledger import UNREADABLE

MOST_FILES = 50_000
FILE_BYTES = 1 << 32
"""A larger file has no digest, which is said; what hangs on it cannot be proved."""
SINGLY = 64
"""So many files stand in a line of the ledger one by one; more stand there as one."""
_NEVER = frozenset({".affidavit", ".git", "__pycache__", "node_modules"})
Signature = Mapping[str, tuple[int, int, int]]


def listed(root: Path) -> tuple[str, ...]:
    """Return the files of a tree, tracked or not, that git does not ignore, as far as they are there."""
    return tuple(name for name in named(root) if is_plain(root / name))


def named(root: Path) -> tuple[str, ...]:
    """Return the names that git knows or would add, without looking at a file; without git, those that a walk finds."""
    try:
        said = git.ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").records
        found: Iterable[str] = (name for name in dict.fromkeys(said) if not _NEVER & set(Path(name).parts))
    except ObserveError:
        found = walked(root)
    return tuple(sorted(islice(found, MOST_FILES + 1)))


def held(root: Path, covers: Iterable[str]) -> tuple[str, ...]:
    """Return the files of a tree that a copy holds: those that git does not ignore, and those that patterns name."""
    lent = {path.name for path in root.iterdir() if (path / "pyvenv.cfg").is_file()} | _NEVER
    covered = (name for name in matching(root, covers) if not lent & set(Path(name).parts[:1]))
    return tuple(dict.fromkeys((*listed(root), *(name for name in covered if not _NEVER & set(Path(name).parts)))))


def walked(root: Path) -> Iterator[str]:
    """Yield every file below a folder, but for repositories, environments and what a build leaves."""
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name not in _NEVER and not Path(folder, name, "pyvenv.cfg").exists()]
        links = [name for name in inner if Path(folder, name).is_symlink()]
        yield from (os.path.relpath(Path(folder, name), root) for name in (*names, *links))


def signature(root: Path, names: Iterable[str]) -> Signature:
    """Return size, time of change and mode of each file; what is not there has none."""
    found: dict[str, tuple[int, int, int]] = {}
    for name in names:
        try:
            said = (root / name).lstat()
        except OSError:
            continue
        found[name] = (said.st_size, said.st_mtime_ns, said.st_mode)
    return found


def changed(before: Signature, after: Signature, root: Path, original: Path) -> tuple[str, ...]:
    """Return the files of ``root`` that are no longer what they are in ``original``; a new time alone is no change."""
    found: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        is_same = old is not None and new is not None and (old[0], old[2]) == (new[0], new[2])
        if is_same and old != new and new is not None and stat.S_ISREG(new[2]):
            is_same = filecmp.cmp(root / name, original / name, shallow=False)
        found += [] if is_same else [name]
    return tuple(found)


def matching(root: Path, patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the files that patterns name; a folder stands for all that is in it."""
    found: dict[str, None] = {}
    for pattern in patterns:
        with suppress(OSError):  # a name that is too long names nothing
            for path in islice(root.glob(pattern), MOST_FILES):
                inner = [path] if path.is_file() else [path / name for name in islice(walked(path), MOST_FILES)]
                found |= dict.fromkeys(os.path.relpath(one, root) for one in inner if one.is_file())
    return tuple(sorted(found))


def digests(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file by its name, or one for all where they are many; what has none stands apart."""
    held = {legible(name): _sha256(root / name) for name in names}
    if len(held) <= SINGLY:
        return held
    unread = {name: said for name, said in held.items() if said.startswith(UNREADABLE)}
    return {f"{len(held)} files": combined(held), **dict(islice(unread.items(), SINGLY))}


def combined(held: Mapping[str, str]) -> str:
    """Return one digest for several, each under its name."""
    return hashlib.sha256("".join(f"{name}\0{said}\n" for name, said in sorted(held.items())).encode()).hexdigest()


def legible(name: str) -> str:
    """Return a file's name in ASCII, as a key of a document must be."""
    return name.encode("ascii", "backslashreplace").decode()


def _sha256(path: Path) -> str:
    try:
        return file.sha256(path.resolve(), limit=FILE_BYTES)
    except (FileShapeError, OSError, RuntimeError) as error:
        return f"{UNREADABLE}: {error}"


def is_plain(path: Path) -> bool:
    """Say whether a plain file, or a link, has this name."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
