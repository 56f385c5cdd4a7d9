"""Decoys: processes that look like a run and are killed, stopped, deadlocked or impersonated, each to be called so.

An alarm that nobody has heard ring is scenery. Every decoy is first seen alive, then goes wrong, and must be called by
its right name within the time limit and go on being called so.

Blind to: what the decoys are not: a run on another host, a hang in native code that holds no lock of Python.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.run.liveness.budget import within
from affidavit.run.liveness.decoy import Decoy, NotHereError, made
from affidavit.run.liveness.look import Watcher
from affidavit.run.liveness.mishaps import MISHAPS, Mishap
from affidavit.run.liveness.verdict import Judgement, Liveness

LIMIT_SECONDS = 15.0
"""Within this time each decoy must be called by its right name, on a machine that does other things as well."""
PATIENCE_SECONDS = 2.0
"""How long a decoy may take no step before it is stalled; it takes fifty in a second."""
_WATCHED_SECONDS = 3.0
_AGAIN_SECONDS = 0.3
_STEPS_FIRST = 5


@dataclass(frozen=True, kw_only=True)
class Called:
    """One decoy: what it ``is``, what it was called, and after how long. ``how`` says what was done to it."""

    name: str
    how: str
    expected: Liveness
    called: Liveness
    seconds: float
    why: str

    @property
    def is_right(self) -> bool:
        return self.called is self.expected


@dataclass(frozen=True)
class Drill:
    """What every decoy was called, and which could not be made here, and why."""

    called: tuple[Called, ...]
    unshown: tuple[str, ...] = ()


def drill(*, rounds: int = 1, limit: float = LIMIT_SECONDS, only: Sequence[str] = ()) -> Drill:
    """Return what each decoy was called; what cannot be made here (a pid namespace) is told and not counted."""
    called: list[Called] = []
    unshown: dict[str, None] = {}
    with tempfile.TemporaryDirectory(prefix="affidavit-drill-") as place, ThreadPoolExecutor(len(MISHAPS)) as pool:
        for number in range(rounds):
            chosen = [case for case in MISHAPS if not only or case.name in only]
            for found in pool.map(lambda case: _one(Path(place) / str(number), case, limit), chosen):  # noqa: B023
                if isinstance(found, str):
                    unshown[found] = None
                else:
                    called.append(found)
    return Drill(tuple(called), tuple(unshown))


def _one(place: Path, case: Mishap, limit: float) -> Called | str:
    try:
        with made(place / case.name.replace(" ", "-"), kind=case.kind, is_alone=case.is_alone) as decoy:
            watcher = Watcher(decoy.folder, within(PATIENCE_SECONDS))
            try:
                return _watched(case, decoy, watcher, limit)
            finally:
                watcher.close()
    except NotHereError as error:
        return f"{case.name}: {error}"


def _watched(case: Mishap, decoy: Decoy, watcher: Watcher, limit: float) -> Called:
    said, _ = _until(watcher, Liveness.ALIVE, limit, steps=_STEPS_FIRST)
    if said.liveness is not Liveness.ALIVE:
        return _called(case, said, 0.0, f"it was never seen alive: {'; '.join(said.why)}")
    how = case.happens(decoy) or case.how
    if case.expected is Liveness.ALIVE:
        said, seconds = _while(watcher, Liveness.ALIVE)
        return _called(replace(case, how=how), said, seconds)
    said, seconds = _until(watcher, case.expected, limit)
    time.sleep(_AGAIN_SECONDS)
    return _called(replace(case, how=how), watcher.look(), seconds)


def _called(case: Mishap, said: Judgement, seconds: float, why: str = "") -> Called:
    return Called(
        name=case.name,
        how=case.how,
        expected=case.expected,
        called=said.liveness,
        seconds=seconds,
        why=why or "; ".join(said.why),
    )


def _until(watcher: Watcher, expected: Liveness, limit: float, *, steps: int = 0) -> tuple[Judgement, float]:
    began = time.monotonic()
    while True:
        said = watcher.look()
        took = time.monotonic() - began
        is_far = not steps or any(one.step >= steps for one in said.evidence.ranks)
        if (said.liveness is expected and is_far) or took > limit:
            return said, took
        time.sleep(0.05)


def _while(watcher: Watcher, expected: Liveness) -> tuple[Judgement, float]:
    began = time.monotonic()
    while True:
        said = watcher.look()
        took = time.monotonic() - began
        if said.liveness is not expected or took > _WATCHED_SECONDS:
            return said, took
        time.sleep(_AGAIN_SECONDS)
