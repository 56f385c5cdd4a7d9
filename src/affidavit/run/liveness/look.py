"""What is seen of a run from here: its processes, its heartbeats, and the word of supervisors that are elsewhere.

On the host and in the pid namespace of a process the kernel is asked for it, and the age of a beat is measured by the
clock that stands still while a laptop sleeps and that nobody sets. From anywhere else only the shared folder speaks:
the time between a supervisor's last sign and the beat that it copied then is measured by its own clock alone.

Nothing is written, sealed or signalled.

Source: proc_pid_stat(5), pidfd_open(2), clock_gettime(2) (CLOCK_MONOTONIC).
Blind to: a time namespace; two hosts of one name.
"""

from __future__ import annotations

import os
import select
import time
from dataclasses import replace
from pathlib import Path

from affidavit.attach import heartbeat
from affidavit.attach.session import EPISODES_WATCHED
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.run.attempt import Told
from affidavit.run.attempts import TELLS_ITS_END
from affidavit.run.closing import RETURNED, close
from affidavit.run.gathered import Gathered, Trainer, gather
from affidavit.run.liveness.budget import Budgets
from affidavit.run.liveness.evidence import Ending, Evidence, Rank, Supervisor
from affidavit.run.liveness.verdict import Judgement, Liveness, judge
from affidavit.run.process import Identity, State, is_same_boot, state

SETTLE_SECONDS = 3.0
"""How long what a healthy run passes through in a moment may last before it is believed."""
_TICK_SECONDS = 0.1


class Watcher:
    """Looks at one run, again and again; what it holds meanwhile makes the second look better than the first."""

    def __init__(self, folder: Path, budgets: Budgets | None = None) -> None:
        self.folder = folder
        self.budgets = budgets or Budgets()
        self._held = _Held()
        self._words: dict[tuple[int, int], tuple[float, float, float]] = {}

    def look(self) -> Judgement:
        """Return the verdict of now; what may be over in a moment is looked at until it is, or lasts."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            said = self._judged()
            if not said.is_fleeting or time.monotonic() > deadline:
                return said
            time.sleep(_TICK_SECONDS)

    def close(self) -> None:
        self._held.close()

    def _judged(self) -> Judgement:
        try:
            return judge(self.evidence())
        except (AffidavitError, OSError) as error:
            said = f"what lies in the run folder cannot be read: {str(error).partition(chr(10))[0]}"
            return Judgement(liveness=Liveness.UNKNOWN, why=(said,), evidence=self._nothing(self.folder.name))

    def _nothing(self, run: str, notes: tuple[str, ...] = ()) -> Evidence:
        outside = self.budgets.outside()
        return Evidence(run=run, attempt=0, supervisors=(), ranks=(), loading=outside, notes=notes)

    def evidence(self) -> Evidence:
        """Return all that can be seen of the run's last attempt now.

        Raises:
            AttemptError: what a supervisor wrote cannot be read.
        """
        gathered = gather(self.folder)
        if not gathered.numbers:
            return self._nothing(gathered.run, gathered.notes)
        number = gathered.numbers[-1]
        told, trainers = gathered.of(number)
        ranks = _compared(tuple(self._rank(gathered, one, told) for one in trainers), trainers)
        return Evidence(
            run=gathered.run,
            attempt=number,
            supervisors=tuple(self._supervisor(one) for one in told),
            ranks=ranks,
            loading=self.budgets.outside(),
            unstarted_seconds=_since_start(told),
            is_attached=bool(gathered.hello),
            lost=close(gathered, number).attempt.status,
            notes=gathered.notes,
        )

    def _supervisor(self, told: Told) -> Supervisor:
        start, ended = told.start, told.ended
        found = self._held.state(start.supervisor)
        child = told.child.process if told.child else None
        return Supervisor(
            host=start.supervisor.host,
            state=found,
            pid=start.supervisor.pid,
            child=self._held.state(child) if child else None,
            child_pid=child.pid if child else 0,
            ended=Ending(status=ended.status, code=ended.code, signal=ended.signal) if ended else None,
            silent_seconds=self._silence(told) if found is State.ELSEWHERE else None,
        )

    def _silence(self, told: Told) -> float:
        """Return how old a supervisor's word is: from the second look on by our own steady clock."""
        key, now = (told.start.number, told.start.task), time.monotonic()
        pulse, silent, since = self._words.get(key, (told.pulse, time.time() - told.pulse, now))
        if pulse != told.pulse:
            pulse, silent, since = told.pulse, 0.0, now
        self._words[key] = (pulse, silent, since)
        return silent + now - since

    def _rank(self, gathered: Gathered, one: Trainer, told: tuple[Told, ...]) -> Rank:
        process, reading = gathered.identity(one), one.reading
        beside = next((found for found in told if found.start.supervisor.host == _host(process)), None)
        child = beside.child.process if beside and beside.child else None
        last = reading.episodes[-1] if reading.episodes else None
        age, why = _age(one, process, beside)
        outside = self.budgets.outside()
        return Rank(
            rank=reading.rank,
            world=reading.world,
            pid=one.pid,
            host=process.host if process else one.host,
            state=self._held.state(process) if process else State.ELSEWHERE,
            step=one.last_step,
            phase=one.beat.phase if one.beat else None,
            age_seconds=age,
            why=why,
            allowed=self.budgets.allow(one.beat) if one.beat else outside,
            is_newest=not any(_follows(other, one) for other in gathered.of(reading.attempt)[1]),
            is_command=child is not None and process == child,
            is_own_supervisor=beside is not None and process == beside.start.supervisor,
            closed=reading.closed,
            error=_error(one),
            is_open=bool(last and not last.ended and last.driver in TELLS_ITS_END),
            is_plain=bool(last and last.driver not in TELLS_ITS_END),
            is_unwatched=len(reading.episodes) >= EPISODES_WATCHED,
        )


class _Held:
    """Processes by descriptors that mean them for ever; a number that is reused meanwhile is not asked for again."""

    def __init__(self) -> None:
        self._descriptors: dict[Identity, int] = {}

    def state(self, process: Identity) -> State:
        found = state(process)
        if found in (State.GONE, State.ELSEWHERE):
            self._let_go(process)
            return found
        if process not in self._descriptors:
            try:
                self._descriptors[process] = os.pidfd_open(process.pid)
            except OSError:
                return state(process)
            return state(process)  # whoever is held now is the one that is meant, or that one is gone
        return State.GONE if found is not State.ZOMBIE and self._is_over(process) else found

    def _is_over(self, process: Identity) -> bool:
        return bool(select.select([self._descriptors[process]], [], [], 0)[0])

    def _let_go(self, process: Identity) -> None:
        if process in self._descriptors:
            os.close(self._descriptors.pop(process))

    def close(self) -> None:
        for process in tuple(self._descriptors):
            self._let_go(process)


def _host(process: Identity | None) -> str:
    return process.host if process else ""


def _age(one: Trainer, process: Identity | None, beside: Told | None) -> tuple[float | None, str]:
    """Return how long ago the loop came on, or None and why nobody can say."""
    if one.beat is None:
        return None, "it has no heartbeat that can be read"
    is_near = process is not None and is_same_boot(process)
    if is_near and not _is_out_of_sight(beside):
        if not _is_beaten_here(one, beside):
            return None, "its heartbeat is gone from where it beats"
        age = (time.monotonic_ns() - one.beat.moved_ns) / 1e9
        return (age, "") if age >= 0 else (None, "its heartbeat is of another clock")
    if beside is None:
        return None, "no supervisor speaks for it"
    return max(beside.pulse - one.beat.moved_wall_ns / 1e9, 0.0), ""


def _is_out_of_sight(beside: Told | None) -> bool:
    """Say whether a supervisor is in another container, and its spool with it."""
    return beside is not None and not beside.start.spool and state(beside.start.supervisor) is State.ELSEWHERE


def _is_beaten_here(one: Trainer, beside: Told | None) -> bool:
    """Say whether the beat was read where it is beaten, and not in a copy, which stands still where nobody copies."""
    return beside is None or (bool(beside.start.spool) and one.place == Path(beside.start.spool))


def _since_start(told: tuple[Told, ...]) -> float | None:
    """Return how long ago the command was started first, by a clock that can be compared."""
    found = []
    for one in told:
        if one.child is not None and one.child.monotonic_ns and is_same_boot(one.child.process):
            found.append((time.monotonic_ns() - one.child.monotonic_ns) / 1e9)
        elif not is_same_boot(one.start.supervisor):
            found.append(max(one.pulse - one.start.started.timestamp(), 0.0))
    return max(found, default=None)


def _error(one: Trainer) -> str:
    """Return the error that ended the process, or its last training, "" where there was none."""
    reading = one.reading
    last = reading.episodes[-1].ended if reading.episodes else ""
    return f"{reading.raised}, which nobody caught" if reading.raised else last if last != RETURNED else ""


def _follows(other: Trainer, one: Trainer) -> bool:
    """Say whether a process took over the rank of another: a launcher started it anew, or the command went on."""
    if other is one or other.reading.rank != one.reading.rank:
        return False
    later = other.reading.generation > one.reading.generation
    return later or (other.host == one.host and other.start > one.start)


def _compared(ranks: tuple[Rank, ...], trainers: tuple[Trainer, ...]) -> tuple[Rank, ...]:
    """Return ranks with how far each is behind: those that beat on this host, read once more after all the others.

    The second reading comes after the first of every rank, so the time that reading takes makes nobody look slow.
    """
    near = [_is_compared(rank, one) for rank, one in zip(ranks, trainers)]
    furthest = max((rank.step for rank, is_near in zip(ranks, near) if is_near), default=0)
    found = []
    for rank, one, is_near in zip(ranks, trainers, near):
        again = _read_again(one) if is_near else None
        found.append(replace(rank, behind=max(furthest - again.step, 0)) if again is not None else rank)
    return tuple(found)


def _is_compared(rank: Rank, one: Trainer) -> bool:
    if rank.state in (State.GONE, State.ZOMBIE, State.ELSEWHERE) or rank.world < 2 or not rank.is_newest:
        return False
    return one.beat is not None and one.beat.phase is not heartbeat.Phase.LOAD


def _read_again(one: Trainer) -> heartbeat.Beat | None:
    if one.place is None:
        return None
    return heartbeat.read(names.heartbeat(one.place, one.reading.process, one.reading.attempt))
