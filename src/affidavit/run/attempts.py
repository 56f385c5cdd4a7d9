"""The attempts of a run side by side: where each began and came to, whether two ran at once, and how ranks ended.

No process inside knows of another attempt, and none sees its own exit code. What lies around a run does.

Source: DESIGN D22; anchors-mechanisms C5.
Blind to: a process that attached and never trained; clocks of two hosts that differ by more than a check allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from affidavit.fact.encoding import EXACT_INTEGER
from affidavit.fact.observation import Aspect, Known, Observation, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.record.manifest import Status
from affidavit.record.record import Fact
from affidavit.run.closing import RETURNED
from affidavit.run.gathered import Gathered, Trainer
from affidavit.run.listing import read_listing
from affidavit.run.opened import shown

TELLS_ITS_END = ("transformers.Trainer", "lightning.Trainer")
"""Loops that say when they return; one that has not was left by an error or by force."""
NOT_OVER, WELL = "not over", "exit code 0"
FIRST, REQUEUED, RESTARTED, BY_HAND = "first", "requeued", "restarted", "by hand"
RAISED, CUT_OFF, NEVER_RETURNED, UNTOLD = "raised", "cut off in its loop", "loop never returned", "left without a word"
ATTEMPT_COLUMNS = ("attempt", "restart", "came", "rank", "began_at", "last_step", "loaded", "saves")
EDITED_COLUMNS = ("path", "attempt")
ENDING_COLUMNS = ("rank", "process", "how", "why", "step")
WRITER_COLUMNS = ("rank", "attempt", "process", "other_attempt", "other", "command", "seconds")
ROWS = 64


def attempt_facts(gathered: Gathered, *, silence: Unknown, is_over: bool) -> tuple[Fact, ...]:
    """Return what only those who stand around a run can say of its processes.

    Args:
        silence: why nothing is known where no process left a journal.
        is_over: whether how it ended can be asked; before that no rank has ended badly.
    """
    ended = _ended(gathered) if is_over else NOT_OVER
    said: dict[str, tuple[Value, str]] = {"run.ended": (ended, "as its supervisor saw it")}
    unsaid: dict[str, Unknown] = {}
    if gathered.trainers:
        endings = tuple(_endings(gathered))[:ROWS] if is_over else ()
        said["run.attempts"] = (Table(ATTEMPT_COLUMNS, tuple(_attempts(gathered))[-ROWS:]), "journals and heartbeats")
        said["run.edited"] = (Table(EDITED_COLUMNS, tuple(_edited(gathered))[:ROWS]), "lists of what was executed")
        said["run.endings"] = (Table(ENDING_COLUMNS, endings), "the last line of each journal")
        said["run.writers"] = (Table(WRITER_COLUMNS, tuple(_writers(gathered))[:ROWS]), "journals and heartbeats")
    else:
        unsaid = dict.fromkeys(("run.attempts", "run.edited", "run.endings", "run.writers"), silence)
    known = [Fact(name=name, state=Known(value, Method.INSPECTED, where)) for name, (value, where) in said.items()]
    return (*known, *(Fact(name=name, state=state) for name, state in unsaid.items()))


def _ended(gathered: Gathered) -> str:
    """Return how the commands of the last attempt ended; the worst of several supervisors' words."""
    told = gathered.of(gathered.numbers[-1])[0] if gathered.numbers else ()
    endings = [one.ended for one in told]
    if not endings or any(ended is None for ended in endings):
        return "unseen"
    seen = [ended for ended in endings if ended is not None]
    worst = next((ended for ended in seen if ended.status is not Status.FINISHED), seen[0])
    if worst.status is Status.FINISHED:
        return WELL
    return f"{worst.status.value}, " + (f"signal {worst.signal}" if worst.signal else f"exit code {worst.code}")


# --- attempts ---------------------------------------------------------------------------------------------------------


def _attempts(gathered: Gathered) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each start of the training, of its lowest rank: attempts, and restarts inside of one."""
    before: list[Trainer] = []
    for generation in sorted({one.reading.generation for one in gathered.trainers}):
        present = [one for one in gathered.trainers if one.reading.generation == generation]
        one = min(present, key=lambda one: (one.reading.rank, _began(one) or 0.0))
        saves = {save.step for other in present for save in other.reading.saves}
        rank, last = one.reading.rank, max(other.last_step for other in present)
        came = _came(gathered, before, one)
        yield (*generation, came, rank, _position(one)["loop"], last, _loaded(one, before), len(saves))
        before += present


def _came(gathered: Gathered, before: Sequence[Trainer], one: Trainer) -> str:
    if not before:
        return FIRST
    former, attempt = before[-1].reading.attempt, one.reading.attempt
    if former == attempt:
        return RESTARTED
    restarts = {told.start.number: told.start.scheduler.restart for told in gathered.told}
    grew = former in restarts and attempt in restarts and restarts[attempt] > restarts[former]
    return REQUEUED if grew else BY_HAND


def _seen(one: Trainer, term: str) -> Value | None:
    """Return what a process knew of a term in its first training."""
    found: list[Observation] = [
        seen
        for seen in one.reading.observations
        if seen.term == term and seen.aspect is Aspect.RESOLVED and seen.episode == 0
    ]
    state = found[-1].state if found else None
    return state.value if isinstance(state, Known) else None


def _position(one: Trainer) -> Tally:
    found = _seen(one, "loop.position")
    return found if isinstance(found, Tally) else Tally.count("steps", {})


def _loaded(one: Trainer, before: Sequence[Trainer]) -> str:
    """Say what of an earlier state a process was seen to begin with, "" for nothing."""
    position, restored = _position(one), _seen(one, "weights.restored")
    parts = [kind for kind in ("loop", "optimizer", "scheduler") if position[kind]]
    saved = [Path(save.path) for other in before for save in other.reading.saves]
    for row in restored.records(kind=str, source=str) if isinstance(restored, Table) else ():
        place = Path(str(row["source"]))
        if row["kind"] != "model" or any(path in (place, *place.parents) for path in saved):
            parts.append(str(row["kind"]))
    return ", ".join(dict.fromkeys(parts))


def _edited(gathered: Gathered) -> Iterator[tuple[Cell, ...]]:
    """Yield each file of code that the newest attempt executed, and an earlier one with other bytes."""
    first: dict[int, Trainer] = {}
    for one in sorted(gathered.trainers, key=lambda one: (one.reading.generation, one.reading.rank)):
        first.setdefault(one.reading.attempt, one)
    *before, newest = [(number, one) for number, one in sorted(first.items())]
    if before:
        now = _code(newest[1], gathered)
        for number, one in before:
            was = _code(one, gathered)
            yield from ((path, number) for path in sorted(now) if path in was and was[path] != now[path])


def _code(one: Trainer, gathered: Gathered) -> Mapping[str, str]:
    """Return what a process executed of the project's own code, by path from its folder; {} where its list is lost."""
    digest = _seen(one, "code.listing")
    if digest is None:
        return {}
    cwd = Path(str(one.reading.opened.get("cwd") or "."))
    listing = read_listing(Known(digest, Method.EXECUTED, ""), gathered.places, cwd)
    if isinstance(listing, Unknown):
        return {}
    code = (file for file in listing.own if file.path not in listing.configs)
    return {shown(file.path, cwd): file.sha256 for file in code if file.sha256}


# --- endings ----------------------------------------------------------------------------------------------------------


def _endings(gathered: Gathered) -> Iterator[tuple[Cell, ...]]:
    """Yield the newest process of each rank of the last attempt that did not end in an orderly way."""
    told, present = gathered.of(gathered.numbers[-1])
    commands = [one.child.process for one in told if one.child is not None]
    supervisors = [one.start.supervisor for one in told]
    newest = {one.reading.rank: one for one in sorted(present, key=lambda one: (one.reading.generation, one.start))}
    for rank, one in sorted(newest.items()):
        reading, process = one.reading, gathered.identity(one)
        last = reading.episodes[-1] if reading.episodes else None
        error = reading.raised or (last.ended if last and last.ended != RETURNED else "")
        is_open = last is not None and not last.ended
        tells = last is not None and last.driver in TELLS_ITS_END
        how = ""
        if process in supervisors:
            continue  # it watches itself, as a notebook does, and lives on
        if error:
            how = RAISED
        elif reading.closed == "rehearsed":
            continue
        elif not reading.closed and process not in commands:
            how = (CUT_OFF if tells else UNTOLD) if is_open else ""
        elif is_open and tells:
            how = NEVER_RETURNED
        if how:
            yield rank, reading.process, how, error.partition("\n")[0][:200], one.last_step


# --- writers ----------------------------------------------------------------------------------------------------------


def _writers(gathered: Gathered) -> Iterator[tuple[Cell, ...]]:
    """Yield each two processes that trained as one rank and whose lives overlap."""
    dated = [(began, one) for one in gathered.trainers if (began := _began(one)) is not None and one.reading.bound]
    for rank in sorted({one.reading.rank for _, one in dated}):
        own = sorted(((began, one) for began, one in dated if one.reading.rank == rank), key=lambda pair: pair[0])
        for (_, one), (began, other) in combinations(own[:ROWS], 2):
            last = min(_last_sign(one), _last_sign(other))
            if last > began:
                ours, theirs = one.reading, other.reading
                same = "the same" if ours.opened.get("command") == theirs.opened.get("command") else "another"
                who = (ours.attempt, ours.process, theirs.attempt, theirs.process)
                yield rank, *who, same, round(last - began, 3)


def _began(one: Trainer) -> float | None:
    began = one.reading.opened.get("began")
    is_time = isinstance(began, int | float) and not isinstance(began, bool) and 0 <= began < EXACT_INTEGER
    return float(str(began)) if is_time else None


def _last_sign(one: Trainer) -> float:
    """Return when a process last came on, by the clock of its own host."""
    return one.beat.moved_wall_ns / 1e9 if one.beat is not None else _began(one) or 0.0
