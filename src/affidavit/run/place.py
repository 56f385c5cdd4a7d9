"""Which run and which attempt of it a start belongs to.

A requeued job is the next attempt of the run it was, the same job on eight nodes is one attempt, and the same command
started twice is two runs. Getting this wrong splits one run in two, or lets two runs speak as one.
"""

from __future__ import annotations

import datetime
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from affidavit.record.manifest import Status
from affidavit.record.record import Kind
from affidavit.run.attempt import STALE_SECONDS, AttemptError, Start, Told, read_attempts
from affidavit.run.process import Life, life


@dataclass(frozen=True)
class Place:
    """A run by its id, and the number of an attempt of it."""

    run: str
    number: int


def place(runs: Path, start: Start) -> Place:
    """Return where a start belongs, by its scheduler's id or, where there is none, in a run of its own.

    Blind to: two jobs whose scheduler gave them one id, which Slurm does after its counter wraps.
    """
    if not start.scheduler.job:
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        return Place(f"{stamp}-{secrets.token_hex(3)}", 0)
    job = re.sub(r"[^A-Za-z0-9._-]", "_", start.scheduler.job)
    base = f"{start.scheduler.name}-{job}" + ("-rehearsal" if start.kind is Kind.REHEARSAL else "")
    for suffix in count(1):
        run = base if suffix == 1 else f"{base}-{suffix}"
        try:
            earlier = read_attempts(runs / run)
        except AttemptError:
            continue
        number = _number(earlier, start)
        if number is not None:
            return Place(run, number)
    raise AssertionError("count() ends never")


def is_over(told: Told) -> bool:
    """Say whether a supervisor's share of an attempt is over, or nobody can be found who would say so.

    Where its process cannot be seen from here, it is over once it has not touched its file for a quarter of an hour.
    """
    if told.ended is not None:
        return True
    found = life(told.start.supervisor)
    if found is Life.ELSEWHERE:
        return time.time() - told.pulse > STALE_SECONDS
    child = told.child is not None and life(told.child.process) is Life.ALIVE
    return found is Life.GONE and not child


def _number(earlier: Sequence[Told], start: Start) -> int | None:
    """Return the attempt of this run that a start is, or None where it is another run of the same job."""
    if not earlier:
        return 0
    last = max(told.start.number for told in earlier)
    newest = [told for told in earlier if told.start.number == last]
    one = newest[0].start
    if start.scheduler.restart > one.scheduler.restart:
        return last + 1 if start.recipe == one.recipe else None
    if (start.command, start.cwd) != (one.command, one.cwd):
        return None
    same_task = [told for told in newest if told.start.task == start.task]
    if not same_task:
        return last if start.scheduler.is_task else None
    ended = same_task[0].ended
    done = ended is not None and ended.status in (Status.FINISHED, Status.REFUSED, Status.STOPPED)
    return last + 1 if is_over(same_task[0]) and not done else None
