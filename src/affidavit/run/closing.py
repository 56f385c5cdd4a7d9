"""How an attempt ended: as its supervisor saw it, or as can be told from what it left where nobody saw it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit.record.manifest import Attempt, Process, Status
from affidavit.run.attempt import Told, now
from affidavit.run.ending import Ending
from affidavit.run.gathered import Gathered, Trainer
from affidavit.run.process import Life, is_same_boot, life

_CAUSE_FIRST = (
    Status.OOM,
    Status.TIMEOUT,
    Status.PREEMPTED,
    Status.STOPPED,
    Status.KILLED,
    Status.FAILED,
    Status.ABANDONED,
    Status.REFUSED,
    Status.FINISHED,
)
"""Of several supervisors of one attempt, the one that tells a cause speaks for it; its neighbours saw the effect."""
RETURNED = "returned"
"""How the journal says that a training loop ended without an error."""


@dataclass(frozen=True)
class Closing:
    """An attempt as the manifest holds it, and what a reader should be told of how that is known."""

    attempt: Attempt
    notes: tuple[str, ...]


def close(gathered: Gathered, number: int) -> Closing:
    """Return how one attempt of a run that is over ended."""
    told, trainers = gathered.of(number)
    later = [one.start.scheduler.restart for one in gathered.told if one.start.number > number]
    endings: list[Ending] = []
    for one in told:
        restarted = any(restart > one.start.scheduler.restart for restart in later)
        endings.append(_seen(one) or _unseen(one, trainers, restarted=restarted))
    if not told:
        endings = [_from_journals(trainers, Status.ABANDONED)]
    came = min(endings, key=lambda ending: _CAUSE_FIRST.index(ending.status))
    first = told[0].start if told else None
    beats = [one.last_seen for one in trainers if one.last_seen is not None]
    ended = [one.ended.ended for one in told if one.ended]
    started = first.started if first else min(beats, default=now())
    return Closing(
        Attempt(
            number=number,
            command=first.command if first else (),
            started=started,
            ended=max(ended or beats or [_pulse(told) or started]),
            status=came.status,
            exit_code=came.code if came.code >= 0 else None,
            signal=came.signal,
            last_step=max((one.last_step for one in trainers), default=0),
            processes=tuple(_process(one) for one in trainers),
        ),
        came.notes,
    )


def _seen(told: Told) -> Ending | None:
    """Return what the supervisor saw; its notes are told with the rest of what it wrote."""
    if told.ended is None:
        return None
    return Ending(status=told.ended.status, code=told.ended.code, signal=told.ended.signal)


def _unseen(told: Told, trainers: Sequence[Trainer], *, restarted: bool) -> Ending:
    """Return how the share of a supervisor ended that is gone without a word."""
    gone = f"the supervisor of attempt {told.start.number} ended without a word"
    if restarted:
        return Ending(
            status=Status.PREEMPTED, code=-1, signal=0, notes=(f"{gone}; the scheduler then restarted the job",)
        )
    seen_from_here = life(told.start.supervisor) is Life.GONE and is_same_boot(told.start.supervisor)
    came = _from_journals(trainers, Status.KILLED if seen_from_here else Status.ABANDONED)
    return Ending(status=came.status, code=came.code, signal=0, notes=(f"{gone}; {came.notes[0]}",))


def _from_journals(trainers: Sequence[Trainer], cut: Status) -> Ending:
    """Return what the processes that trained say of their end; ``cut`` where one of them says nothing."""
    if not trainers:
        return Ending(status=Status.ABANDONED, code=-1, signal=0, notes=("no process of it left a journal",))
    if not all(one.reading.closed for one in trainers):
        note = "a process that trained did not close its journal, so it was killed"
        return Ending(status=cut, code=-1, signal=0, notes=(note,))
    errors = [
        episode.ended
        for one in trainers
        for episode in one.reading.episodes[-1:]
        if episode.ended not in ("", RETURNED)
    ]
    if errors:
        note = f"exit code 1 is inferred from the training loop's error ({errors[0]})"
        return Ending(status=Status.FAILED, code=1, signal=0, notes=(note,))
    note = "every process that trained closed its journal; nobody saw the exit code"
    return Ending(status=Status.FINISHED, code=-1, signal=0, notes=(note,))


def _process(one: Trainer) -> Process:
    return Process(
        identity=one.reading.process,
        host=one.host,
        pid=one.pid,
        rank=one.reading.rank,
        world=one.reading.world,
        last_step=one.last_step,
        closed=one.reading.closed,
        torn=one.reading.torn,
    )


def _pulse(told: Sequence[Told]) -> datetime.datetime | None:
    pulses = [one.pulse for one in told]
    return datetime.datetime.fromtimestamp(max(pulses), datetime.timezone.utc) if pulses else None
