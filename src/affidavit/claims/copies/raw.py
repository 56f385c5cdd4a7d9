"""The bytes of a text that may hold a copy; of what is no text, or only says what was, none.

A changelog says what was so when it was written, and an entry of last year is right to say last year's number: told of
it, people would rewrite their history. So documents that are named as one are not searched. A number in them that
carries an id is held all the same, as its author meant it to stay right; a fragment that waits for the next release is
searched, as it is new; and a script by such a name is a script.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from affidavit.record.measurement import FILE

SIZE_BYTES: Final = 2 << 20
DATA_BYTES: Final = 64 << 10
_DATA: Final = (".json", ".jsonl", ".csv", ".tsv", ".xml", ".svg", ".ndjson", ".geojson")
_NO_TEXT: Final = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".gz", ".xz", ".zst", ".tar", ".whl", ".so"),
    *(".pyc", ".bin", ".pt", ".pth", ".ckpt", ".safetensors", ".gguf", ".npy", ".npz", ".parquet", ".arrow", ".mp4"),
    *(".woff", ".woff2", ".ttf", ".lock", ".sum", ".map", ".min.js", ".min.css", ".patch", ".diff"),
)
_NAMES: Final = frozenset(
    {FILE, "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "poetry.lock", "npm-shrinkwrap.json"}
)
_HISTORY: Final = re.compile(
    r"(?:changes|changelog|change[-_]log|history|news|release[-_ ]?notes|releases|whats[-_]?new)\b", re.I
)
_DOCUMENTS: Final = ("", ".md", ".markdown", ".mdx", ".rst", ".txt", ".html", ".htm", ".adoc", ".org", ".tex")


def raw_of(path: Path) -> bytes:
    """Return the bytes of a file, none where nothing is to be looked for in it."""
    name = path.name
    low = name.lower()
    is_history = _HISTORY.match(low) is not None and path.suffix.lower() in _DOCUMENTS
    if low.endswith(_NO_TEXT) or low in _NAMES or is_history:
        return b""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        most = DATA_BYTES if low.endswith(_DATA) else SIZE_BYTES
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return b""
        raw = os.read(descriptor, status.st_size + 1)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return b"" if b"\0" in raw[:4096] else raw
