"""A canary: holds sampled rows of a cache hit against what the function makes of the same inputs today.

Three answers are needed before a row is called different: it is not what was stored; the same child says the same of it
a second time; and another child says the same of it too, in another order. A function that counts, draws or remembers
gives itself away in the second or the third.

Source: silent-failure-corpus L1, D13; hf-stack-spike §5.
Blind to: rows that were not sampled; a function that depends on what it saw before and forgets nothing in between; what
depends on the number of threads, to six digits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from affidavit.attach.moment import CacheHit
from affidavit.cache.compare import Unlike, differences, fingerprint, is_reordered, spread
from affidavit.cache.isolated import Result, isolated

ROWS_ENOUGH = 4096
"""With so many rows the bound is below a thousandth; what is left of the time is the next hit's."""
_FIRST_ROWS = 64
_SHUFFLED = "the same texts in another order, and PYTHONHASHSEED is not set"
_AGAIN_ROWS = 16
"""So many rows that differ are recomputed once more and then again elsewhere; the others are counted with them."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What a canary came back with.

    Args:
        outcome: ``same``, ``different``, ``not deterministic``, or how the child ended.
        why: what was refused or raised.
        examined: rows that were held against the function.
        different: those that differ, the first of them with their fields.
        fields: in which they do, the most frequent first.
    """

    outcome: str
    why: str = ""
    examined: int = 0
    different: int = 0
    first: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()


def examine(hit: CacheHit, *, seconds: float, most: float | None = None, offset: float = 0.0) -> Sighting:
    """Return what the function says today of rows that a cache served.

    Args:
        seconds: how long rows are sampled.
        most: how long the run waits at most: a difference that was found is worth more time than another sample.
        offset: a fraction that moves the sample.
    """
    begun = time.monotonic()
    most = seconds if most is None else most
    found = isolated(lambda: _look(hit, 0.7 * seconds, offset), seconds=most)
    seen: dict[str, Any] = found.value or {"examined": 0, "different": [], "again": []}
    if found.ended not in ("done", "time limit") or not seen["examined"]:
        return Sighting(outcome=found.ended if found.ended != "done" else "nothing examined", why=found.why)
    different = seen["different"]
    if not different:
        return Sighting(outcome="same", examined=seen["examined"])
    if seen["unequal"]:
        return _said("not deterministic", seen)
    if seen["shuffled"]:
        return replace(_said("not deterministic", seen), why=_SHUFFLED)
    if not seen["again"]:
        return Sighting(outcome="time limit", why="before a difference could be confirmed", examined=seen["examined"])
    rows = [row for row, _ in seen["again"]]
    left = max(most - (time.monotonic() - begun), 0.2 * seconds)
    elsewhere = isolated(lambda: _elsewhere(hit, rows), seconds=left)
    if elsewhere.ended != "done":
        return Sighting(outcome=elsewhere.ended, why=_unconfirmed(elsewhere), examined=seen["examined"])
    if elsewhere.value != seen["again"]:
        return _said("not deterministic", seen)
    return _said("different", seen)


def _unconfirmed(ended: Result) -> str:
    return ended.why if ended.ended != "time limit" else "before a difference could be confirmed"


def _said(outcome: str, seen: dict[str, Any]) -> Sighting:
    counts: dict[str, int] = {}
    for _, fields in seen["different"]:
        for name in fields:
            counts[name] = counts.get(name, 0) + 1
    return Sighting(
        outcome=outcome,
        examined=seen["examined"],
        different=seen["count"],
        first=tuple(row for row, _ in seen["different"][:3]),
        fields=tuple(sorted(counts, key=lambda name: (-counts[name], name))),
    )


# --- in the child -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Round:
    """Some rows that were held against the function: how many, and those that differ with the answer they got."""

    examined: int
    found: tuple[Unlike, ...]
    answers: dict[int, str]


def _look(hit: CacheHit, seconds: float, offset: float) -> Iterator[dict[str, Any]]:
    """Yield what was found so far, round by round: a round that the limit cuts off takes nothing back."""
    deadline = time.monotonic() + seconds
    examined = 0
    for one in _scanned(hit) if hit.scan is not None else _sampled(hit, deadline, offset):
        examined += one.examined
        yield _state(examined, one.found)
        if one.found:
            wanted = _few(hit, one.found)
            answers = _answers(hit, wanted)
            unequal = any(answers[row] != one.answers[row] for row in wanted if row in one.answers)
            again = [[row, answers[row]] for row in wanted]
            shuffled = not unequal and _is_shuffled(hit, wanted)
            yield {**_state(examined, one.found), "unequal": unequal, "again": again, "shuffled": shuffled}
            return


def _is_shuffled(hit: CacheHit, rows: Sequence[int]) -> bool:
    """Say whether all that differs is the order of texts, which a set gives anew in each process."""
    if os.environ.get("PYTHONHASHSEED", "random") != "random":
        return False
    whole = list(rows) if hit.in_order else sorted({row for one in rows for row in hit.batch(one)})
    pairs = dict(zip(whole, zip(hit.stored(whole), hit.recompute(whole))))
    return all(row in pairs and is_reordered(*pairs[row]) for row in rows)


def _elsewhere(hit: CacheHit, rows: Sequence[int]) -> list[list[Any]]:
    """Return the answers of another process, asked for the last row first and for a row that differs from no other."""
    if hit.in_order:
        answers = _answers(hit, rows)
    else:
        answers = {}
        hit.recompute(hit.batch((rows[0] + hit.rows // 2) % hit.rows))
        for row in reversed(rows):
            if row not in answers:
                batch = hit.batch(row)
                again = hit.recompute(batch)
                answers |= {one: _answer(again, place) for place, one in enumerate(batch)}
    return [[row, answers.get(row, "")] for row in rows]


def _state(examined: int, found: Sequence[Unlike]) -> dict[str, Any]:
    return {
        "examined": examined,
        "count": len(found),
        "different": [[difference.row, list(difference.fields)] for difference in found[:256]],
        "unequal": False,
        "shuffled": False,
        "again": [],
    }


def _scanned(hit: CacheHit) -> Iterator[_Round]:
    assert hit.scan is not None
    for more, rows in hit.scan():
        few = rows[:_AGAIN_ROWS]
        found: tuple[Unlike, ...] = ()
        answers: dict[int, str] = {}
        if few:
            stored, again = hit.stored(few), hit.recompute(few)
            found = differences(few, stored, again)
            answers = {row: _answer(again, place) for place, row in enumerate(few)}
            if found:  # the others differ in the same way, and nobody reads 500,000 of them
                found += tuple(Unlike(row, ()) for row in rows[_AGAIN_ROWS:])
        yield _Round(more, found, answers)


def _sampled(hit: CacheHit, deadline: float, offset: float) -> Iterator[_Round]:
    """Yield rounds that double while the next one fits into the time."""
    order = _order(hit, offset)
    count, done = _FIRST_ROWS, 0
    while done < min(hit.rows, ROWS_ENOUGH):
        begun = time.monotonic()
        rows = _take(order, count)
        if not rows:
            return
        again, stored = hit.recompute(rows), hit.stored(rows)
        found = differences(rows, stored, again)
        places = {row: place for place, row in enumerate(rows)}
        yield _Round(len(rows), found, {one.row: _answer(again, places[one.row]) for one in found})
        done += len(rows)
        cost, left = time.monotonic() - begun, deadline - time.monotonic()
        count = min(2 * len(rows), int(len(rows) * left / max(cost, 1e-6)), ROWS_ENOUGH)
        if left <= 0 or not count:
            return


def _take(order: Iterator[range], count: int) -> list[int]:
    """Return whole batches until ``count`` rows are together, in rising order."""
    rows: list[int] = []
    while len(rows) < count:
        batch = next(order, None)
        if batch is None:
            break
        rows += batch
    return sorted(rows)


def _order(hit: CacheHit, offset: float) -> Iterator[range]:
    """Yield batches: those with rows that stand out, then others, spread evenly; or from the first one on."""
    if hit.in_order:
        yield from (range(row, row + 1) for row in range(hit.rows))
        return
    seen: set[int] = set()
    for rows in (hit.salient() if hit.salient is not None else (), spread(hit.rows, 2 * ROWS_ENOUGH, offset)):
        for row in rows:
            batch = hit.batch(row)
            if batch.start not in seen:
                seen.add(batch.start)
                yield batch


def _few(hit: CacheHit, found: Sequence[Unlike]) -> list[int]:
    """Return rows enough to be asked for again, of few batches: each costs a whole one."""
    rows: list[int] = []
    batches: dict[int, int] = {}
    for difference in found:
        batch = hit.batch(difference.row)
        batches[batch.start] = len(batch)
        if len(rows) == _AGAIN_ROWS or (rows and sum(batches.values()) > 2 * max(_AGAIN_ROWS, len(batch))):
            break
        rows.append(difference.row)
    return rows


def _answers(hit: CacheHit, rows: Sequence[int]) -> dict[int, str]:
    """Return what the function says of these rows now, each as a digest."""
    whole = list(rows) if hit.in_order else sorted({row for one in rows for row in hit.batch(one)})
    again = hit.recompute(whole)
    answers = {row: _answer(again, place) for place, row in enumerate(whole)}
    return {row: answers[row] for row in rows}


def _answer(again: Sequence[object], place: int) -> str:
    return fingerprint(again[place]) if place < len(again) else ""
