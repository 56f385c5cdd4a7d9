"""Runs the run's own code in a child that can change nothing: no file, no socket, no terminal, no state of the run.

A fork has every live object of the run, and nothing that it does to them comes back. Its answer does, as JSON, line by
line, so that what was said before the time limit counts.

Source: CPython audit events; torch DataLoader workers, which are forked from the same process in the same way.
Blind to: native code that writes or connects by itself (it raises no audit event); memory that is shared on purpose;
a child of a process with RDMA memory that its driver did not mark.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from affidavit.attach.guard import describe
from affidavit.cache.parting import RefusedError, no_device, part

JSON = Any
"""What :mod:`json` can write."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = {
    "write": ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    "network": ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto"),
    "process": ("subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn"),
    "database": ("sqlite3.connect",),
    "signal": ("os.kill", "os.killpg"),
}
_EVENTS = {event: kind for kind, events in _REFUSED.items() for event in events}
_SAID_MOST = 3


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of it.

    Args:
        value: the last thing that the work said; None where it said nothing.
        ended: ``done``, ``refused``, ``raised``, ``time limit``, ``died`` or ``not started``.
        why: what was refused or raised; "" where it is done.
        seconds: how long the run waited.
    """

    value: JSON
    ended: str
    why: str = ""
    seconds: float = 0.0


def isolated(work: Callable[[], JSON], *, seconds: float) -> Result:
    """Return what ``work`` returns in a forked child; of a generator, the last that it yields before the limit.

    Nothing that it does reaches this process or the disk: it is killed at the limit, its output goes nowhere, files,
    sockets, processes and devices are refused and said. Whatever was refused, no value of it is to be trusted.

    Args:
        work: called without arguments; what it yields or returns is JSON.
        seconds: after which it is killed.
    """
    begun = time.monotonic()
    obstacle = _obstacle()
    if obstacle:
        return Result(value=None, ended="not started", why=obstacle)
    reader, writer = os.pipe()
    try:
        with _silent_fork():
            child = os.fork()
    except OSError as error:
        os.close(reader)
        os.close(writer)
        return Result(value=None, ended="not started", why=describe(error))
    if not child:
        _live(work, writer, seconds)
    os.close(writer)
    lines: list[bytes] = []
    is_late = True
    try:
        is_late = _read(reader, lines, begun + seconds)
    finally:
        os.close(reader)
        _end(child, kill=is_late)
    return _result(b"".join(lines), is_late, time.monotonic() - begun)


def _obstacle() -> str:
    """Return why this process had better not have a child: whoever waits for children would hear of it."""
    if not hasattr(os, "fork"):
        return "this system has no fork"
    handler = signal.getsignal(signal.SIGCHLD)
    is_torch = str(getattr(handler, "__module__", "")).partition(".")[0] == "torch"
    return "" if handler in (signal.SIG_DFL, signal.SIG_IGN, None) or is_torch else "the script handles SIGCHLD itself"


@contextmanager
def _silent_fork() -> Iterator[None]:
    """Keep what others say at a fork from the run's terminal.

    tokenizers warns on the child's first breath where nobody has decided on its threads, and CPython 3.12 about
    threads. The environment of C is set for that moment and not ``os.environ``; the filters are not told of the
    filter, because every warning that was shown already would be shown again.
    """
    name = "TOKENIZERS_PARALLELISM"
    # Not os.environ: datasets leaves another one in its place, and C's as it was.
    environment = ctypes.CDLL(None).getenv
    environment.restype = ctypes.c_char_p
    is_set = environment(name.encode()) is not None
    quiet = ("ignore", re.compile("This process .* multi-threaded"), DeprecationWarning, None, 0)
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    if not is_set:
        os.putenv(name, "false")
    filters.insert(0, quiet)
    try:
        yield
    finally:
        filters.remove(quiet)
        if not is_set:
            os.unsetenv(name)


def _read(reader: int, lines: list[bytes], deadline: float) -> bool:
    """Read until the child is silent for good, and say whether its time passed before."""
    waiting = select.poll()
    waiting.register(reader, select.POLLIN | select.POLLHUP)
    while (left := deadline - time.monotonic()) > 0:
        if waiting.poll(max(int(left * 1000), 1)):
            found = os.read(reader, 1 << 16)
            if not found:
                return False
            lines.append(found)
    return True


def _end(child: int, *, kill: bool) -> None:
    """Leave no process behind, whoever else may have waited for it."""
    if kill:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _result(said: bytes, is_late: bool, seconds: float) -> Result:
    value, ended, why = None, "time limit" if is_late else "died", ""
    for line in said.split(b"\n")[:-1]:
        spoken = json.loads(line)
        if "value" in spoken:
            value = spoken["value"]
        else:
            ended, why = spoken["ended"], spoken["why"]
    if is_late and ended != "refused":
        ended, why = "time limit", f"more than {seconds:.1f} s"
    return Result(value=value, ended=ended, why=why, seconds=seconds)


# --- in the child -------------------------------------------------------------------------------------------------


def _live(work: Callable[[], JSON], writer: int, seconds: float) -> NoReturn:
    """Do the work, say what comes of it, and end without a destructor, an exit handler or a flush of the run's."""
    refused: list[str] = []

    def say(**spoken: JSON) -> None:
        line = json.dumps(spoken, allow_nan=True).encode() + b"\n"
        while line:
            line = line[os.write(writer, line) :]

    try:
        part(writer, seconds)
        _refuse(refused, say)
        made = work()
        if isinstance(made, Iterator):
            for value in made:
                say(value=value)
        else:
            say(value=made)
        if not refused:
            say(ended="done", why="")
    except BaseException as error:  # noqa: BLE001  nothing may leave by another way: it would be a second run
        with suppress(BaseException):
            if not refused:
                say(ended="raised", why=describe(error))
    finally:
        os._exit(0)


def _refuse(refused: list[str], say: Callable[..., None]) -> None:
    """Refuse from now on whatever outlives this process, and say it at once: a bare ``except`` may swallow it."""

    def hook(event: str, args: tuple[Any, ...]) -> None:
        kind = _EVENTS.get(event, "")
        if event == "open" and _writes(args):
            kind = "write"
        if not kind:
            return
        what = f"{kind}: {_name(event, args)}"
        if len(refused) < _SAID_MOST and what not in refused:
            refused.append(what)
            say(ended="refused", why=", ".join(refused))
        raise RefusedError(what)

    def said_no_device() -> None:
        refused.append("device")
        say(ended="refused", why=", ".join(refused))
        raise RefusedError("device")

    torch: Any = sys.modules.get("torch")
    if torch is not None and getattr(getattr(torch, "cuda", None), "_lazy_init", None) is no_device:
        torch.cuda._lazy_init = said_no_device
    sys.addaudithook(hook)


def _writes(args: tuple[Any, ...]) -> bool:
    path, _, flags = (*args, None, None, None)[:3]
    return isinstance(flags, int) and bool(flags & _WRITING) and path != os.devnull and not isinstance(path, int)


def _name(event: str, args: tuple[Any, ...]) -> str:
    """Return what to call it: the file's own name, since a path or an address may hold what is nobody's business."""
    first = args[0] if args else ""
    if isinstance(first, bytes):
        first = os.fsdecode(first)
    is_path = isinstance(first, str) and (event == "open" or event.startswith("os."))
    return first.rpartition("/")[2][:80] if is_path and first else event
