"""Caches: rows that one served, held against what their function makes of the same inputs today."""

from __future__ import annotations

import functools
import os
import sys
import time
from dataclasses import dataclass, replace

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import CacheHit, StepEnd, TrainBegin
from affidavit.cache.canary import Sighting, examine
from affidavit.cache.canary.edited import edited, name_of
from affidavit.cache.compare import bound
from affidavit.fact.term import Method
from affidavit.fact.values import Table

COLUMNS = (
    "cache",
    "function",
    "entry",
    "served",
    "examined",
    "different",
    "bound",
    "outcome",
    "why",
    "fields",
    "first",
    "edited",
)
SHARE = 0.5
"""The share of the time that is left which one hit may have: the next one is another cache."""
LEAST_SECONDS = 0.1
_MOST = 15
"""So many functions have a line of their own, the worst first; the others share one."""
_WORST = ("different", "not deterministic", "refused", "raised", "died", "time limit", "nothing examined")
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


@dataclass(frozen=True)
class _Seen:
    """What is known of one function's rows, over all its hits."""

    hit: CacheHit
    served: int
    sighting: Sighting
    edited: tuple[str, ...] = ()


class Canary(Instrument):
    """Emits what was served from a cache before the training began, and how many of its rows differ from today's.

    Source: silent-failure-corpus L1, D13; hf-stack-spike §5 (what keys of datasets and joblib leave out).
    Blind to: rows that were not sampled; what is served while the training runs; hits in other processes and on other
    ranks than the first, which are served the same file.
    """

    name = "cache canary"
    emits = ("cache.canary",)

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._never_again: set[str] = set()
        self._spent = 0.0
        self._trains = False
        self._offset = time.time_ns() % 1_000_003 / 1_000_003

    def limit(self, emit: Emit) -> float:
        """What a person allows for recomputing rows comes on top of what every instrument may take."""
        return self.budget_seconds + emit.canary_seconds

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._trains = True

    @at(CacheHit)
    def served(self, moment: CacheHit, emit: Emit) -> None:
        if emit.spoken or not _is_first():
            return
        function = name_of(moment.function)
        sighting = self._look(moment, function, emit.canary_seconds)
        if sighting.outcome == "refused":
            self._never_again.add(function)
        changed: tuple[str, ...] = ()
        if sighting.outcome == "different":
            changed = edited(moment.function, moment.written) or moment.sources
        # Nothing of the run's is kept: a hit holds the rows that were served.
        bare = replace(moment, function="", stored=list, recompute=list, batch=range, scan=None, salient=None)
        found = _Seen(bare, moment.rows, sighting, changed)
        key = (moment.cache, function)
        self._seen[key] = _joined(self._seen[key], found) if key in self._seen else found

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        if emit.spoken:
            return
        told = sorted(self._seen.items(), key=lambda item: _rank(item[1].sighting.outcome))
        rows = [_row(function, seen) for (_, function), seen in told[:_MOST]]
        if len(told) > _MOST:
            rest = functools.reduce(_joined, (seen for _, seen in told[_MOST:]))
            rows.append(_row(f"and {len(told) - _MOST} others", rest))
        source = f"rows recomputed in a child, {self._spent:.1f} s" if rows else "no cache was hit"
        emit.known("cache.canary", Table(COLUMNS, tuple(rows)), source=source, method=Method.EXECUTED)

    def _look(self, hit: CacheHit, function: str, budget: float) -> Sighting:
        left = budget - self._spent
        if not budget:
            return Sighting(outcome="switched off", why="cache.canary_seconds is 0")
        if self._trains:
            return Sighting(outcome="not examined", why="it was served while the training ran")
        if function in self._never_again:
            return Sighting(outcome="not examined", why="this function is not called again")
        if left < LEAST_SECONDS:
            return Sighting(outcome="not examined", why=f"{budget:g} s went into other hits")
        begun = time.monotonic()
        try:
            seconds = max(SHARE * left, LEAST_SECONDS)
            return examine(hit, seconds=seconds, most=max(left, seconds), offset=self._offset)
        finally:
            self._spent += time.monotonic() - begun


def _joined(one: _Seen, other: _Seen) -> _Seen:
    """Return two hits of one function as one: the worse outcome stands, and what was examined adds up."""
    worse = other if _rank(other.sighting.outcome) < _rank(one.sighting.outcome) else one
    sighting = replace(
        worse.sighting,
        examined=one.sighting.examined + other.sighting.examined,
        different=one.sighting.different + other.sighting.different,
    )
    return replace(worse, served=one.served + other.served, sighting=sighting)


def _rank(outcome: str) -> int:
    """Return how bad an outcome is, the worst first; rows that nobody looked at take nothing from the same ones."""
    return _WORST.index(outcome) if outcome in _WORST else len(_WORST) + (outcome != "same")


def _row(function: str, seen: _Seen) -> tuple[str | int | float, ...]:
    sighting = seen.sighting
    return (
        seen.hit.cache,
        function[:60],
        seen.hit.entry[:48],
        seen.served,
        sighting.examined,
        sighting.different,
        float(bound(sighting.examined, seen.served)),
        sighting.outcome,
        sighting.why[:100],
        ", ".join(sighting.fields)[:60],
        ", ".join(f"{row:,}" for row in sighting.first),
        ", ".join(seen.edited)[:80],
    )


def _is_first() -> bool:
    """Say whether this may be the first rank: others are served the same files, and workers of a pool never train."""
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "")
    processes = sys.modules.get("multiprocessing.process")
    if rank or processes is None:
        return rank in ("0", "")
    own = processes.current_process()
    return not own.daemon and not own.name.startswith("Loky")
