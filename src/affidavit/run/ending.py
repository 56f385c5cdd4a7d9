"""How a command ended, in one word: by itself, by a person, by the scheduler, or by the kernel for want of memory."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from affidavit.record.manifest import Status
from affidavit.run.scheduler import Scheduler

LAST_MINUTES_SECONDS = 600.0
"""A warning within this time of the scheduler's own limit is the time limit's; an earlier one is a preemption's."""
WARNINGS = frozenset({signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT})

_FATAL = frozenset({number.value for number in signal.Signals})


@dataclass(frozen=True)
class Warned:
    """A signal that reached the supervisor or its group while the command ran, and when, Unix seconds."""

    signal: int
    at: float


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the command ended: ``code`` as a shell gives it (-1 where nobody saw it), ``signal`` what ended it or 0."""

    status: Status
    code: int
    signal: int
    notes: tuple[str, ...] = ()


def ending(
    exit_code: int,
    *,
    warned: tuple[Warned, ...],
    memory_kills: int,
    scheduler: Scheduler,
    at: float,
    stopped: str = "",
) -> Ending:
    """Return how a command ended.

    On Slurm SIGKILL follows SIGTERM, so whatever ends after that signal was ended by it, also with exit code 0: a
    script that saves and leaves when it is preempted has not finished. Elsewhere exit code 0 is believed, with a note.

    Args:
        exit_code: as :func:`os.waitstatus_to_exitcode` gives it, negative for a signal.
        warned: the signals that came before, in order.
        memory_kills: how often the kernel killed for memory in our control group meanwhile.
        at: when it ended, Unix seconds.
        stopped: why we ended it ourselves, or "".

    Blind to: a launcher that hides how its ranks ended behind its own exit code 1; a kill for memory in a control group
        beside ours.
    """
    code = 128 - exit_code if exit_code < 0 else exit_code
    number = code - 128 if code - 128 in _FATAL else 0  # a shell or a launcher in between says it this way too
    took = tuple(warning for warning in warned if _could_end(warning, scheduler))
    by = number or (took[-1].signal if took else 0)
    if stopped:
        return Ending(status=Status.STOPPED, code=code, signal=number, notes=(stopped,))
    if memory_kills and code:
        note = f"the kernel killed {memory_kills} of its processes for want of memory"
        return Ending(status=Status.OOM, code=code, signal=number, notes=(note,))
    if took and (code or scheduler.name == "slurm"):
        status = _taken(took[-1], scheduler) if scheduler.name == "slurm" else Status.KILLED
        return Ending(status=status, code=code, signal=by)
    notes = tuple(
        f"{signal.Signals(warning.signal).name} came {at - warning.at:.0f} s before the command ended with exit code 0"
        for warning in took
    )
    if not code:
        return Ending(status=Status.FINISHED, code=0, signal=0, notes=notes)
    return Ending(status=Status.KILLED if number else Status.FAILED, code=code, signal=number)


def _could_end(warning: Warned, scheduler: Scheduler) -> bool:
    """Say whether a signal ends what it reaches; SIGUSR1 and SIGUSR2 do so as a scheduler's warning only."""
    if warning.signal in (signal.SIGUSR1, signal.SIGUSR2):
        return scheduler.ends_at > 0 and scheduler.ends_at - warning.at <= LAST_MINUTES_SECONDS
    return warning.signal in WARNINGS


def _taken(warning: Warned, scheduler: Scheduler) -> Status:
    limit = scheduler.ends_at > 0 and scheduler.ends_at - warning.at <= LAST_MINUTES_SECONDS
    return Status.TIMEOUT if limit else Status.PREEMPTED
