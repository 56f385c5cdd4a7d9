"""Makes shards, in this process or in several that are forked from it.

A child inherits the function and the rows, so nothing is pickled; it takes the number of the next shard from a pipe
and ends with its parent. What it has finished lies in the store before anybody hears of it.

Source: os.fork; what ``datasets.map(num_proc=…)`` does with a pool.
Blind to: a function that hangs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from affidavit.cache.store import StoreError
from affidavit.fact.errors import refusal

_NUMBER_BYTES = 4
MOST_SHARDS = 10_000
"""Their numbers fit into one pipe."""


def make_all(
    numbers: Sequence[int], make: Callable[[int, Callable[[], None]], None], *, processes: int, lock: int | None
) -> None:
    """Call ``make(number, alive)`` for each shard; where there is an error, it is that of the function itself.

    Args:
        numbers: of the shards that are wanted.
        make: makes one shard; it calls ``alive`` often, which ends a child whose parent is gone.
        processes: how many, this one not counted; 1 makes them here.
        lock: a descriptor that the children must not hold.
    """
    processes = min(processes, len(numbers))
    if processes <= 1:
        for number in numbers:
            make(number, _nothing)
        return
    reader, writer = os.pipe()
    os.write(writer, b"".join(number.to_bytes(_NUMBER_BYTES, "big") for number in numbers))
    os.close(writer)
    children: list[int] = []
    ended: list[int] = []
    try:
        for _ in range(processes):
            children.append(_forked(reader, make, lock))
        while children:
            ended.append(_ended(children[-1]))
            children.pop()
    finally:
        os.close(reader)
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _ended(child)
    killed = [-code for code in ended if code < 0]
    if killed:
        raise StoreError(
            refusal(
                subject="building processes",
                expected=f"{processes} that end by themselves",
                saw=f"one killed by signal {killed[0]}",
                means="Signal 9 is most often the system's for want of memory. Finished shards are kept.",
                action="Run it again, with a smaller num_proc.",
                unaffected="other entries",
            )
        )


def _forked(reader: int, make: Callable[[int, Callable[[], None]], None], lock: int | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from CPython 3.12 on, about threads
        child = os.fork()
    if not child:
        _live(reader, make, lock, parent)
    return child


def _live(reader: int, make: Callable[[int, Callable[[], None]], None], lock: int | None, parent: int) -> NoReturn:
    code = 1
    try:
        if lock is not None:
            os.close(lock)
        gc.freeze()
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)  # the threads of the parent are not here

        def alive() -> None:
            if os.getppid() != parent:
                os._exit(3)

        while len(said := os.read(reader, _NUMBER_BYTES)) == _NUMBER_BYTES:
            make(int.from_bytes(said, "big"), alive)
        code = 0
    finally:  # the parent makes what is missing itself, and meets the error where it can be read
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)


def _ended(child: int) -> int:
    try:
        _, status = os.waitpid(child, 0)
    except ChildProcessError:  # somebody else waited for it
        return 0
    return os.waitstatus_to_exitcode(status)


def _nothing() -> None:
    return None
