"""A file's bytes, read once, under the two names that matter: what was loaded and what git would call it."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.observe.repository import ObjectFormat

_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class FileDigest:
    """Digests of the same bytes: plain sha256, and the raw git blob id (no filter applied)."""

    sha256: str
    blob: str


class UnreadableError(OSError):
    """The path holds no plain file, or its bytes moved while they were read."""


def digest_file(path: Path, object_format: ObjectFormat = "sha1") -> FileDigest:
    """The digests of a regular file's bytes, from one pass over them.

    Raises:
        UnreadableError: a pipe, a device, a folder; or the file grew or shrank meanwhile.
        OSError: whatever the operating system says.
    Source: git's object format, "blob <size>\\0<bytes>"; research, 3,000 modules in 59 ms.
    Blind to: a same-size rewrite between two chunks.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnreadableError("not a regular file")
    plain = hashlib.sha256()
    blob = hashlib.new(object_format, usedforsecurity=False)
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        blob.update(b"blob %d\0" % size)
        seen = 0
        while chunk := stream.read(_CHUNK_BYTES):
            plain.update(chunk)
            blob.update(chunk)
            seen += len(chunk)
    if seen != size:
        raise UnreadableError(f"size changed from {size} to {seen} bytes while it was read")
    return FileDigest(sha256=plain.hexdigest(), blob=blob.hexdigest())


def blob_id(content: bytes, object_format: ObjectFormat) -> str:
    """The raw git blob id of bytes in memory."""
    header = b"blob %d\0" % len(content)
    return hashlib.new(object_format, header + content, usedforsecurity=False).hexdigest()
