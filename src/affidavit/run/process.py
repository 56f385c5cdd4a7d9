"""Which process: boot id, pid namespace, pid and start time. A pid alone is reused, and a name matches itself."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Life(enum.Enum):
    """What can be said of a process from here."""

    ALIVE = "alive"
    GONE = "gone"
    ELSEWHERE = "on another host or in another container"


@dataclass(frozen=True, kw_only=True)
class Identity:
    """One process, never to be confused with a later one of the same pid."""

    host: str
    boot: str
    namespace: int
    pid: int
    start: int


def identify(pid: int) -> Identity | None:
    """Return the identity of a process of this host, or None where it is gone or a zombie."""
    seen = _stat(pid)
    if seen is None:
        return None
    return Identity(host=os.uname().nodename, boot=_boot(), namespace=_namespace(), pid=pid, start=seen.start)


def myself() -> Identity:
    """Return the identity of this process."""
    seen = identify(os.getpid())
    assert seen is not None, "a running process has a line in /proc"
    return seen


def life(process: Identity) -> Life:
    """Say whether a process still lives, as far as that can be seen from here.

    A zombie is dead: its memory and its training are gone, and only its parent has not asked yet.

    Source: research/anchors-mechanisms C5 (kill -0 and psutil call a zombie alive).
    Blind to: other hosts and other pid namespaces, which are ELSEWHERE, never GONE.
    """
    if process.host == os.uname().nodename and process.boot != _boot():
        return Life.GONE
    if process.boot != _boot() or process.namespace != _namespace():
        return Life.ELSEWHERE
    seen = _stat(process.pid)
    return Life.ALIVE if seen is not None and seen.start == process.start else Life.GONE


def descendants(pid: int) -> tuple[Identity, ...]:
    """Return a process and everything it started that is still linked to it by parenthood."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        seen = _stat(int(entry.name)) if entry.name.isdecimal() else None
        if seen is not None:
            children.setdefault(seen.parent, []).append(int(entry.name))
    found: list[Identity] = []
    pending = [pid]
    while pending:
        one = pending.pop()
        if (process := identify(one)) is not None:
            found.append(process)
        pending += children.get(one, [])
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _Stat:
    parent: int
    start: int


def _stat(pid: int) -> _Stat | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in b"ZXx" else _Stat(parent=int(fields[1]), start=int(fields[19]))


def _boot() -> str:
    return _BOOT.read_text().strip()


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def is_same_boot(process: Identity) -> bool:
    """Say whether a process ran since this machine was started; after a power cut nobody killed it."""
    return process.boot == _boot()
