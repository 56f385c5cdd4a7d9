"""The content of files and folders, each read once while it lies unchanged.

Source: silent-failure-corpus L1-02, L1-16: a time and a size are no content.
Blind to: a file that is written while it is read.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from affidavit.cache.preimage import canonical, digest_of

BLOCK = 1 << 20
_SKIPPED = frozenset(("__pycache__", ".git", ".ipynb_checkpoints"))
_SEEN: dict[str, tuple[tuple[int, ...], str]] = {}
_MOST_SEEN = 4096


def digest_of_file(path: str | Path) -> str:
    """Return the digest of a file's bytes.

    Within a process an unchanged file is not read again. What changed is told by its time of status change, too, which
    no program sets: a file that was edited and given its old time and size back is read.
    """
    path = os.path.realpath(path)
    stat = os.stat(path)  # noqa: PTH116  a path of bytes or of a descriptor may come from an audit event
    state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    known = _SEEN.get(path)
    if known and known[0] == state:
        return known[1]
    hashed = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123
        while block := file.read(BLOCK):
            hashed.update(block)
    digest = f"sha256:{hashed.hexdigest()}"
    if len(_SEEN) >= _MOST_SEEN:
        _SEEN.clear()
    _SEEN[path] = (state, digest)
    return digest


def digest_of_folder(folder: Path) -> tuple[str, int]:
    """Return the digest of all files under a folder, by relative path, and how many there are."""
    rows: list[list[str]] = []
    for top, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in files:
            path = Path(top, name)
            rows.append([path.relative_to(folder).as_posix(), digest_of_file(path)])
    return digest_of(canonical(sorted(rows))), len(rows)
