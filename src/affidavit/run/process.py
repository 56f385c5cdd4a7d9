"""Which process: boot id, pid namespace, pid and start time. A pid alone is reused, and a name matches itself."""

from __future__ import annotations

import enum
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Life(enum.Enum):
    """What can be said of a process from here."""

    ALIVE = "alive"
    GONE = "gone"
    ELSEWHERE = "on another host or in another container"


class State(enum.Enum):
    """What the kernel says of a process; several of its letters are one thing to whoever waits for progress."""

    RUNNING = "running"
    SLEEPING = "asleep"
    UNINTERRUPTIBLE = "in an uninterruptible sleep"
    STOPPED = "stopped"
    TRACED = "held by a debugger"
    ENDING = "about to end"
    ZOMBIE = "a zombie"
    GONE = "gone"
    ELSEWHERE = "on another host or in another container"


_STATES = {
    b"R": State.RUNNING,
    b"D": State.UNINTERRUPTIBLE,
    b"T": State.STOPPED,
    b"t": State.TRACED,
    b"Z": State.ZOMBIE,
    b"X": State.GONE,
    b"x": State.GONE,
}
"""The others (S, I, W, K, P) are a process that waits for something and can be ended."""
_EXITING = 0x4
"""The kernel's own mark (PF_EXITING) of a process that is on its way out; its letter may be any."""


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
    found = state(process)
    if found is State.ELSEWHERE:
        return Life.ELSEWHERE
    return Life.GONE if found in (State.GONE, State.ZOMBIE) else Life.ALIVE


def state(process: Identity) -> State:
    """Return what the kernel says of a process; whoever has its number now is not it.

    Source: proc_pid_stat(5), fields 3, 9 and 22; proc_pid_status(5), SigPnd and ShdPnd.
    Blind to: the threads of a process whose first thread still lives, and to what :func:`life` is blind to.
    """
    if process.host == os.uname().nodename and process.boot != _boot():
        return State.GONE
    if process.boot != _boot() or process.namespace != _namespace():
        return State.ELSEWHERE
    try:
        fields = _fields(process.pid)
    except (FileNotFoundError, ProcessLookupError):
        return State.GONE
    if int(fields[19]) != process.start:
        return State.GONE
    found = _STATES.get(fields[0], State.SLEEPING)
    if found is State.ZOMBIE:
        return _of_threads(process.pid)
    return State.ENDING if int(fields[6]) & _EXITING or _is_killed(process.pid) else found


def send(process: Identity, number: int) -> bool:
    """Send a signal to a process and to nobody who has its number now; say whether it was there.

    Source: pidfd_open(2): the descriptor means one process for ever, so the identity is compared after it is held.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if life(process) is Life.ALIVE:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)
                return True
        return False
    finally:
        os.close(descriptor)


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


def _fields(pid: int) -> list[bytes]:
    """Return the fields of a stat file after the name, which may hold anything, a bracket and a line end too."""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def _is_killed(pid: int) -> bool:
    """Say whether SIGKILL waits for a process: it will run no line of its own any more, whatever its state is."""
    try:
        lines = Path(f"/proc/{pid}/status").read_bytes().splitlines()
    except OSError:
        return False
    pending = (line.split()[1] for line in lines if line.startswith((b"SigPnd:", b"ShdPnd:")))
    return any(int(bits, 16) >> (signal.SIGKILL - 1) & 1 for bits in pending)


def _of_threads(pid: int) -> State:
    """Return the state of a process whose first thread has ended: a zombie, unless another thread lives on."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                letter = (task / "stat").read_bytes().rpartition(b")")[2].split()[0]
                if letter not in b"ZXx":
                    return _STATES.get(letter, State.SLEEPING)
    return State.ZOMBIE


def _stat(pid: int) -> _Stat | None:
    try:
        fields = _fields(pid)
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
