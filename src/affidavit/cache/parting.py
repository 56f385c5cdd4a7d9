"""What a forked child parts from before it runs anything of the run: files, terminal, signals, threads and devices."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import resource
import signal
import stat
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any


class RefusedError(PermissionError):
    """The work reached for something that would have outlived it."""


def part(writer: int, seconds: float) -> None:
    """Part from the run: its files, its terminal, its signals, its threads' locks and its device."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(int(seconds) + 2)  # where whoever should end it was killed
    with suppress(OSError):
        os.setpgid(0, 0)
    gc.freeze()
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ("0", "1", "2"):  # noqa: PTH112, PTH208
        if int(name) not in (writer, nowhere):
            _part_from(int(name), nowhere)
    # A notebook's streams have no descriptor: they would find their way to the cell by themselves.
    sys.stdout = sys.stderr = open(nowhere, "w", closefd=False)  # noqa: SIM115
    logging.disable()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _quieten(sys.modules)


def _part_from(number: int, nowhere: int) -> None:
    """Replace one inherited descriptor: what is written goes nowhere, what is read is read at a place of its own."""
    try:
        flags, kind = fcntl.fcntl(number, fcntl.F_GETFL), os.fstat(number).st_mode
    except OSError:
        return
    if number > 2 and flags & os.O_ACCMODE == os.O_RDONLY:
        if stat.S_ISDIR(kind) or stat.S_ISCHR(kind):
            return
        if stat.S_ISREG(kind):
            with suppress(OSError):
                own = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
                os.lseek(own, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
                os.dup2(own, number)
                os.close(own)
                return
    os.dup2(nowhere, number)


def _quieten(modules: dict[str, ModuleType]) -> None:
    """Let frameworks that are loaded do without threads, devices and locks that they share with the run."""
    torch: Any = modules.get("torch")
    if torch is not None:
        with suppress(Exception):  # a torch that is imported by halves has none of these
            torch.set_num_threads(1)
            torch.cuda._lazy_init = no_device
    tqdm: Any = modules.get("tqdm")
    if tqdm is not None:
        import threading

        with suppress(Exception):
            tqdm.tqdm.set_lock(threading.RLock())  # its own is shared between processes


def no_device() -> None:
    raise RefusedError("device")
