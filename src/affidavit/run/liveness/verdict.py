"""One word for what was seen of a run, and the sentences that carry it: a pure function.

The worst of what is seen speaks for all. What was not seen is never a sign of life: where nothing is wrong that can be
seen from here and something cannot be seen, the word is that nobody knows.

Source: anchors-mechanisms C5 (a zombie passes ``kill -0``; a deadlocked loop beside a beating thread looks fresh).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.attach.heartbeat import Phase
from affidavit.check.finding import Verdict
from affidavit.record.manifest import Status
from affidavit.run.liveness.budget import shown
from affidavit.run.liveness.evidence import Ending, Evidence, Rank, Supervisor
from affidavit.run.process import State

WORD_SECONDS = 150.0
"""A supervisor elsewhere says every half minute that it lives; when it has missed several, its word is no word."""
CLOCK_SECONDS = 30.0
"""A word that comes so far from the future comes from a clock that cannot be compared with ours."""
RANKS_WITHIN_STEPS = 10
"""Ranks of one world take every step together; one that is further behind than this does not take part."""


class Liveness(enum.Enum):
    """What can be said of a run. STALLED lives and takes no step; FINISHED ended by itself with exit code 0."""

    ALIVE = "ALIVE"
    FINISHED = "FINISHED"
    STALLED = "STALLED"
    STOPPED = "STOPPED"
    UNINTERRUPTIBLE = "UNINTERRUPTIBLE"
    ZOMBIE = "ZOMBIE"
    DEAD = "DEAD"
    UNKNOWN = Verdict.UNKNOWN.value

    @property
    def exit_code(self) -> int:
        if self in (Liveness.ALIVE, Liveness.FINISHED):
            return 0
        return 4 if self is Liveness.UNKNOWN else 1


_WORST_FIRST = (
    Liveness.DEAD,
    Liveness.ZOMBIE,
    Liveness.STOPPED,
    Liveness.UNINTERRUPTIBLE,
    Liveness.STALLED,
    Liveness.UNKNOWN,
    Liveness.FINISHED,
    Liveness.ALIVE,
)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A verdict on one process, or on all, and the sentence that carries it."""

    liveness: Liveness
    words: str
    is_fleeting: bool = False


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict, what carries it, and each rank with its own.

    ``is_fleeting`` says that it is of the kind that a healthy run passes through in a moment: look again. ``is_over``
    says that nothing of the attempt is left which could change it.
    """

    liveness: Liveness
    why: tuple[str, ...]
    evidence: Evidence
    ranks: tuple[tuple[Rank, Said], ...] = ()
    is_fleeting: bool = False
    is_over: bool = False


def judge(seen: Evidence) -> Judgement:
    """Return the word for what was seen."""
    ranks = tuple((one, _rank(one)) for one in seen.ranks if _counts(one))
    said = tuple(_run(seen, ranks))
    worst = min((one.liveness for one in said), key=_WORST_FIRST.index, default=Liveness.UNKNOWN)
    carrying = [one for one in said if one.liveness is worst]
    words = [one.words for one in carrying] or ["nothing of it says that it was ever started"]
    return Judgement(
        liveness=worst,
        why=(*dict.fromkeys(words), *seen.notes),
        evidence=seen,
        ranks=ranks,
        is_fleeting=bool(carrying) and all(one.is_fleeting for one in carrying),
        is_over=_has_ended(seen) or _is_lost(seen),
    )


def _run(seen: Evidence, ranks: tuple[tuple[Rank, Said], ...]) -> Iterator[Said]:
    ended = [one.ended for one in seen.supervisors if one.ended is not None]
    yield from (_ended_badly(one) for one in ended if one.status is not Status.FINISHED)
    if _has_ended(seen):
        yield from _finished(seen)
        return
    if _is_lost(seen):
        yield _lost(seen)
        return
    for one in seen.supervisors:
        if one.ended is None:
            yield from _supervisor(one)
    yield from (said for _, said in ranks)
    if not ranks:
        yield _before_training(seen)


def _has_ended(seen: Evidence) -> bool:
    return bool(seen.supervisors) and all(one.ended is not None for one in seen.supervisors)


def _counts(one: Rank) -> bool:
    """Say whether a process still matters: one that left in an orderly way, or was started anew, does not."""
    is_over = one.state in (State.GONE, State.ZOMBIE)
    return not (is_over and (bool(one.closed) or not one.is_newest))


def _ended_badly(ended: Ending) -> Said:
    by = f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"
    return Said(liveness=Liveness.DEAD, words=f"its command ended: {ended.status.value}, {by}")


def _finished(seen: Evidence) -> Iterator[Said]:
    """Yield whether an exit code 0 is an end well: what the ranks say of themselves must not contradict it."""
    newest = [one for one in seen.ranks if one.is_newest and not one.is_own_supervisor]
    for one in newest:
        if one.error:
            words = f"the command ended with exit code 0, and rank {one.rank} with an error: {one.error}"
            yield Said(liveness=Liveness.DEAD, words=words)
        elif not one.closed and not one.is_command:
            words = f"the command ended with exit code 0, and rank {one.rank} was cut off at step {one.step}"
            yield Said(liveness=Liveness.UNKNOWN, words=words)
        elif one.is_open:
            words = f"the command ended with exit code 0, and the training loop of rank {one.rank} never returned"
            yield Said(liveness=Liveness.UNKNOWN, words=words)
    if all(one.ended is not None and one.ended.status is Status.FINISHED for one in seen.supervisors):
        last = max((one.step for one in seen.ranks), default=0)
        at = f", at step {last}" if last else ""
        unseen = any(not one.is_command for one in newest)
        beside = "; that of the processes that trained was seen by nobody but those that started them" if unseen else ""
        if any(one.is_own_supervisor for one in seen.ranks):
            beside = ", as it said itself: nobody else saw its exit code"
        yield Said(liveness=Liveness.FINISHED, words=f"its command ended by itself with exit code 0{at}{beside}")


def _is_lost(seen: Evidence) -> bool:
    """Say whether nobody of the run is left who would say how it ended."""
    silent = [one for one in seen.supervisors if one.ended is None]
    alone = all(one.is_gone and one.child in (None, State.GONE, State.ZOMBIE) for one in silent)
    return alone and all(one.state in (State.GONE, State.ZOMBIE) for one in seen.ranks)


def _lost(seen: Evidence) -> Said:
    if seen.lost is None:
        return Said(liveness=Liveness.UNKNOWN, words="nothing of it says that it was ever started")
    if seen.lost is Status.FINISHED:
        words = "every process of it left in an orderly way, and nobody saw the exit code"
        return Said(liveness=Liveness.UNKNOWN, words=words)
    return Said(liveness=Liveness.DEAD, words="its supervisor and every process of it are gone without a word")


def _supervisor(one: Supervisor) -> Iterator[Said]:
    """Yield what is wrong with a supervisor that has not said how its command ended, or with the command itself."""
    who = f"the command, process {one.child_pid}"
    if one.state is State.ELSEWHERE:
        yield from _word(one)
    elif one.child is State.ZOMBIE:
        words = f"{who}, is a zombie: it has ended, and nobody has asked how"
        yield Said(liveness=Liveness.ZOMBIE, words=words, is_fleeting=not one.is_gone)
    elif one.child is State.GONE and one.is_gone:
        yield Said(liveness=Liveness.DEAD, words=f"{who}, and its supervisor are gone without a word")
    elif one.child is State.GONE:
        words = f"{who}, is gone, and its supervisor has not said how it ended"
        yield Said(liveness=Liveness.UNKNOWN, words=words, is_fleeting=True)
    elif one.child in (State.STOPPED, State.TRACED):
        yield Said(
            liveness=Liveness.STOPPED, words=f"{who}, is {one.child.value}", is_fleeting=one.child is State.TRACED
        )
    elif one.child is None and one.is_gone:
        yield Said(liveness=Liveness.DEAD, words="its supervisor is gone, and started no command that is known")


def _word(one: Supervisor) -> Iterator[Said]:
    where = f"its supervisor on {one.host}"
    if one.silent_seconds is None:
        yield Said(liveness=Liveness.UNKNOWN, words=f"{where} cannot be seen from here, and has left no word")
    elif one.silent_seconds < -CLOCK_SECONDS:
        ahead = -one.silent_seconds
        yield Said(liveness=Liveness.UNKNOWN, words=f"the last word of {where} is {ahead:.0f} s ahead of this clock")
    elif one.silent_seconds > WORD_SECONDS:
        words = f"{where} cannot be seen from here, and has not said a word for {one.silent_seconds:.0f} s"
        yield Said(liveness=Liveness.UNKNOWN, words=words)


def _rank(one: Rank) -> Said:
    """Return the word for one process that trains."""
    who = f"rank {one.rank}, process {one.pid}"
    if one.state is State.GONE:
        return Said(
            liveness=Liveness.DEAD, words=f"{who}, is gone; it was cut off at step {one.step}", is_fleeting=True
        )
    if one.state is State.ENDING:
        words = f"{who}, was told by the kernel to end, at step {one.step}, and runs no line any more"
        return Said(liveness=Liveness.DEAD, words=words, is_fleeting=True)
    if one.state is State.ZOMBIE:
        words = f"{who}, is a zombie: it has ended at step {one.step}, and nobody has asked how"
        return Said(liveness=Liveness.ZOMBIE, words=words, is_fleeting=True)
    if one.state in (State.STOPPED, State.TRACED):
        is_traced = one.state is State.TRACED
        words = f"{who}, is {one.state.value}, at step {one.step}"
        return Said(liveness=Liveness.STOPPED, words=words, is_fleeting=is_traced)
    if one.is_own_supervisor and one.phase is Phase.LOAD:
        return Said(liveness=Liveness.ALIVE, words=f"{who}, waits; no training goes on in it")
    if one.is_unwatched:
        words = f"{who}, has trained so often that its later trainings are not watched"
        return Said(liveness=Liveness.UNKNOWN, words=words)
    if one.age_seconds is None:
        return Said(liveness=Liveness.UNKNOWN, words=f"{who}: nobody can say whether it comes on: {one.why}")
    return _progress(one, who)


def _progress(one: Rank, who: str) -> Said:
    assert one.age_seconds is not None
    about = f"at step {one.step}" + (f", {_ABOUT[one.phase]}" if one.phase in _ABOUT else "")
    since = f"came on {_ago(one.age_seconds)}"
    if one.age_seconds > one.allowed.seconds:
        plain = "; a plain loop does not say when it is over" if one.is_plain else ""
        words = f"{who}, {about}, has not come on for {shown(one.age_seconds)}, and {one.allowed.words}{plain}"
        if one.state is State.UNINTERRUPTIBLE:
            return Said(liveness=Liveness.UNINTERRUPTIBLE, words=f"{words}; it is in an uninterruptible sleep")
        return Said(liveness=Liveness.STALLED, words=words)
    if one.behind > RANKS_WITHIN_STEPS:
        words = f"{who}, {about}, is {one.behind} steps behind the furthest of {one.world} ranks"
        return Said(liveness=Liveness.STALLED, words=words)
    unseen = "; it cannot be looked up from here" if one.state is State.ELSEWHERE else ""
    return Said(liveness=Liveness.ALIVE, words=f"{who}, {about}, {since}; {one.allowed.words}{unseen}")


def _before_training(seen: Evidence) -> Said:
    """Return the word for a command no process of which trains, or trains any more."""
    what = "every process that trained has left, and the command goes on" if seen.ranks else "no training has begun"
    ages = [one.age_seconds for one in seen.ranks if one.age_seconds is not None]
    age = min(ages) if ages else None if seen.ranks else seen.unstarted_seconds
    if age is None:
        return Said(liveness=Liveness.UNKNOWN, words=f"{what}, and nobody can say for how long")
    if age <= seen.loading.seconds:
        return Said(liveness=Liveness.ALIVE, words=f"{what}, for {shown(age)}; {seen.loading.words}")
    if seen.ranks or not seen.is_attached:
        unseen = "" if seen.ranks else ", and no Python of it was reached"
        return Said(liveness=Liveness.UNKNOWN, words=f"{what}, for {shown(age)}{unseen}")
    return Said(liveness=Liveness.STALLED, words=f"{what}, for {shown(age)}, and {seen.loading.words}")


def _ago(seconds: float) -> str:
    return f"{shown(max(seconds, 0.0))} ago"


_ABOUT: dict[Phase | None, str] = {
    Phase.LOAD: "outside of a training",
    Phase.COMPILE: "in its first steps",
    Phase.EVALUATION: "in an evaluation",
    Phase.CHECKPOINT: "in a checkpoint",
}
