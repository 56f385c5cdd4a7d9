"""Operations: what one step executed, name by name, from torch's execution trace observer.

Not a dispatch mode, which switches the run's torch.compile off for good. Not a profiler either: a run that starts its
own inside our step would raise "already enabled", or lose its events. The observer stands beside both, and neither
notices the other.

Source: critic-architect R1, R10; measured here: a user's profiler around, inside and across the traced step, and one
whose schedule starts in it, record the events they record without us.
Blind to: operations that a compiler fused into a kernel of its own; a second execution trace observer, which torch
does not allow, so that ours steps back where the run has one.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from affidavit.adapters.torch.modules import alive
from affidavit.attach.moment import Batch, Gradients, Operation, Operations
from affidavit.attach.session import Session
from affidavit.fact.observation import Cause

_HEAD = re.compile(rb'\s*"id": (\d+), "name": "([^"]*)", "ctrl_deps": (\d+)')
_INPUTS = re.compile(rb'.*?"shapes": \[(?:\[([0-9,]*)\])?.*?"types": \[(?:"(?:Tensor\()?([^"()]*))?')
_PASSED = b"PythonDispatchMode", b"PythonSubclass"
"""What the trace names where an operation passes through a mode or a tensor subclass."""
_LAST = b'"finish_ts":'
_QUIET_LEVEL = 3


class _TornError(Exception):
    """The trace file has no end."""


def trace_step(session: Session, step: int) -> None:
    """Trace the first micro-batch of this step, and fire Operations when the step is over.

    From the moment it enters the model: a plain loop may evaluate, save or draw samples before that. Until the next
    one does: each operation costs about a kilobyte, and one micro-batch shows them all. A fork ends it as well, since
    in the child nothing would, and then nothing is told: half a trace would be a lie.
    """
    busy = "the run has an execution trace observer of its own"
    if _has_observer():
        session.unwatched(Operations, Cause.PROFILER_BUSY, busy)
        return
    path = Path(session.launch.spool) / f"trace.{os.getpid()}.json"
    native = torch._C._profiler
    running = [False]

    def start() -> None:
        with _quiet():
            if native._add_execution_trace_observer(str(path)):
                running[0] = True
                native._enable_execution_trace_observer()
                return
        session.unwatched(Operations, Cause.PROFILER_BUSY, busy)

    def stop() -> None:
        if running[0]:
            running[0] = False
            with _quiet():
                native._disable_execution_trace_observer()
                native._remove_execution_trace_observer()

    def give_up() -> None:
        if running[0]:
            stop()
            path.unlink(missing_ok=True)
            session.unwatched(Operations, Cause.INSTRUMENT_FAILED, "the process forked while it was traced")

    def finish() -> None:
        session.at_live.remove(finish)
        stop()
        try:
            if path.exists():
                session.fire(Operations(step=step, operations=tuple(_operations(path))))
        except _TornError as error:
            session.unwatched(Operations, Cause.JOURNAL_LOST, str(error))
        finally:
            path.unlink(missing_ok=True)

    session.at_live.append(finish)
    session.at_fork.append(give_up)
    session.after(Batch, 1, start)
    session.after(Batch, 2, stop)
    session.after(Gradients, 1, stop)


def _operations(path: Path) -> Iterator[Operation]:
    """Yield the operations of a trace file, read by pattern: as JSON a long step would take a minute.

    An operation that hands on to another of its own name (autograd, a mode, a compiler's runtime) is that one. What a
    compiler tries on tensors without a storage has no sizes here. Inner operations come first.
    """
    inner: defaultdict[bytes, set[bytes]] = defaultdict(set)
    is_whole = False
    head = None
    with path.open("rb") as trace:
        for line in trace:
            head = _HEAD.match(line) or head
            if head and line.lstrip().startswith(b'"inputs"'):
                number, name, caller = head.groups()
                within = inner.pop(number, set())
                inner[caller] |= within if name.startswith(_PASSED) else {name}
                if name not in within and not name.startswith(_PASSED):
                    yield _operation(name, line)
                head = None
            is_whole = is_whole or line.lstrip().startswith(_LAST)
    if not is_whole:
        raise _TornError("the execution trace could not be written to its end")


def _operation(name: bytes, inputs: bytes) -> Operation:
    found = _INPUTS.match(inputs)
    shape, kind = found.groups(b"") if found else (b"", b"")
    return Operation(
        name.decode("utf-8", "replace"), tuple(int(size) for size in shape.split(b",") if size.strip()), kind.decode()
    )


def _has_observer() -> bool:
    return any(found.is_registered for found in alive(torch.profiler.ExecutionTraceObserver))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch from announcing on the run's stderr that an observer comes and goes."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
        level = ctypes.c_int.in_dll(library, "FLAGS_caffe2_log_level")
    except (OSError, ValueError):
        yield
        return
    before = level.value
    level.value = max(before, _QUIET_LEVEL)
    try:
        yield
    finally:
        level.value = before
