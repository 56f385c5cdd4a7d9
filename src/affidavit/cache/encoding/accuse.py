"""Which files a call opened that nobody named: they accuse a key of a hole, and never acquit one.

Source: anchors-mechanisms C1: CPython's audit hook sees ``open``, and not what Arrow, tokenizers or safetensors open.
Blind to: native code; other threads that the call starts.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from affidavit.cache.key.owner import FIRST, owner_of

_IMPORTING = ("<frozen importlib", "<frozen zipimport")
_SOURCES = ("linecache.py", "tokenize.py")
_NOWHERE = ("/proc/", "/sys/", "/dev/")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CODE = (".py", ".pyc", ".so")
_watched: dict[int, list[tuple[str, bool]]] = {}
_hooked: list[bool] = []


@contextmanager
def opened() -> Iterator[list[str]]:
    """Give the list that holds, once the block has ended, the data files that this thread only read in it."""
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_hear)  # for the rest of the process; outside of a block it costs a look at one dict
    own = threading.get_ident()
    outer = _watched.get(own)
    seen: list[tuple[str, bool]] = []
    found: list[str] = []
    _watched[own] = seen
    try:
        yield found
    finally:
        if outer is None:
            del _watched[own]
        else:
            _watched[own] = outer
            outer.extend(seen)
    written = {path for path, writes in seen if writes}
    found += [path for path in dict.fromkeys(path for path, _ in seen) if path not in written and _counts(path)]


def is_covered(file: str, named: Sequence[Path]) -> bool:
    """Say whether a file is one of those named, or lies in a folder that is."""
    path = Path(os.path.realpath(file))
    return any(path == one or one in path.parents for one in (Path(os.path.realpath(each)) for each in named))


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if not _watched or event != "open":
        return
    seen = _watched.get(threading.get_ident())
    if seen is None or not isinstance(args[0], (str, bytes)):
        return
    asks = sys._getframe(1).f_code.co_filename
    if asks.startswith(_IMPORTING) or asks.endswith(_SOURCES):
        return
    flags = args[2] if isinstance(args[2], int) else 0
    with suppress(ValueError):
        seen.append((os.path.abspath(os.fsdecode(args[0])), bool(flags & _WRITING)))  # noqa: PTH100


def _counts(path: str) -> bool:
    """Say whether a file is data of the project's own: no package's, no system's, none that is gone again."""
    if path.startswith(_NOWHERE) or path.endswith(_CODE) or not Path(path).is_file():
        return False
    return owner_of(path, "").kind == FIRST
