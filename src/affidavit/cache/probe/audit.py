"""An audit: recomputes a random sample of an entry's rows, and says how many of all rows can be stale at most.

Source: the hypergeometric distribution, exactly: rows are drawn without putting them back.
Blind to: columns that the function does not return; what is the same in all rows that were drawn.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.cache.compare import CONFIDENCE, differing, fingerprint
from affidavit.cache.isolated import isolated
from affidavit.cache.probe.bench import Bench

ROWS = 3000
SECONDS = 600.0
_AGAIN = 64
_ROUND = 256


@dataclass(frozen=True)
class Audit:
    """What came of an audit.

    Args:
        outcome: ``same``, ``different``, ``not deterministic``, or how the child ended.
        rows: of the entry; ``examined`` of them were recomputed, and ``different`` differ.
        first: the first rows that differ, ``fields`` those in which they do.
        limit: with 95 % confidence fewer than so many of all rows are stale, or, where some differ, at least so many.
    """

    outcome: str
    rows: int
    examined: int
    different: int = 0
    first: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()
    limit: int = 0
    why: str = ""

    @property
    def says(self) -> str:
        """The bound in words, never better than it is."""
        counted = f"{self.different:,} of {self.examined:,} rows differ"
        if not self.examined:
            return "no row was recomputed"
        if self.examined >= self.rows:
            return f"{counted}: every row was recomputed"
        if self.different:
            share = _down(self.limit / self.rows)
            return f"{counted}: with {CONFIDENCE:.0%} confidence at least {share} of rows are stale".replace(
                "5%", "5 %"
            )
        share = _up(self.limit / self.rows)
        return f"{counted}: with {CONFIDENCE:.0%} confidence fewer than {share} of rows are stale".replace("5%", "5 %")


def audit(
    bench: Bench,
    stored: Sequence[Any],
    raw: Sequence[Any],
    *,
    rows: int = ROWS,
    seed: int = 0,
    seconds: float = SECONDS,
) -> Audit:
    """Return how a random sample of stored rows compares with what the function makes of the same raw rows now.

    Args:
        bench: the function, with the configuration that the entry is for.
        stored: the rows of the entry, in the order of ``raw``.
        rows: are drawn; all of them where there are no more.
    """
    drawn = sorted(random.Random(seed).sample(range(len(stored)), min(rows, len(stored))))

    def work() -> Iterator[dict[str, Any]]:
        said: dict[str, Any] = {"examined": 0, "different": [], "again": True}
        for begin in range(0, len(drawn), _ROUND):
            for row in drawn[begin : begin + _ROUND]:
                made = bench.measure([raw[row]])[0]
                said["examined"] += 1
                fields = _fields(stored[row], made)
                if fields:
                    said["different"].append([row, list(fields), _print(made)])
            yield said
        for row, _, printed in reversed(said["different"][:_AGAIN]):
            said["again"] = said["again"] and _print(bench.measure([raw[row]])[0]) == printed
        yield said

    result = isolated(work, seconds=seconds)
    said = result.value if result.ended in ("done", "time limit") else None
    said = said or {"examined": 0, "different": [], "again": True}
    found = said["different"]
    outcome = "different" if found else "same"
    if not said["again"]:
        outcome = "not deterministic"
    elif result.ended != "done" and not (result.ended == "time limit" and said["examined"]):
        outcome = result.ended
    counts: dict[str, int] = {}
    for _, fields, _ in found:
        for name in fields:
            counts[name] = counts.get(name, 0) + 1
    return Audit(
        outcome=outcome,
        rows=len(stored),
        examined=said["examined"],
        different=len(found),
        first=tuple(row for row, _, _ in found[:5]),
        fields=tuple(sorted(counts, key=lambda name: (-counts[name], name))),
        limit=limit(len(stored), said["examined"], len(found)),
        why=result.why,
    )


def _fields(stored: Any, made: tuple[bool, Any]) -> tuple[str, ...]:
    came, now = made
    if not came:
        return ("(error)",)
    if isinstance(stored, Mapping) and isinstance(now, Mapping):
        stored = {name: stored[name] for name in now if name in stored}
    return differing(stored, now)


def _print(made: tuple[bool, Any]) -> str:
    return fingerprint(made[1]) if made[0] else str(made[1])


def limit(rows: int, examined: int, different: int) -> int:
    """Return how many of ``rows`` are stale: fewer than this where none differs, else at least so many.

    Of the first number, a sample without a stale row is rarer than one in twenty; of any number below the second, one
    with so many of them is.

    Source: hypergeometric tails, exactly.
    """
    rarely = (1.0 - CONFIDENCE) * (1.0 + 1e-9)  # sums of logarithms are right to ten digits
    if not examined:
        return rows + 1
    if not different:
        return _first(lambda stale: _at_most(0, rows, stale, examined) <= rarely, 1, rows + 1)
    return _first(lambda stale: 1.0 - _at_most(different - 1, rows, stale, examined) > rarely, different, rows)


def _first(holds: Any, low: int, high: int) -> int:
    """Return the least number from ``low`` on that holds; it holds of every larger one."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _at_most(found: int, rows: int, stale: int, examined: int) -> float:
    """Return the chance that a sample has at most ``found`` stale rows."""
    if stale > rows:
        return 0.0
    whole = _log_choose(rows, examined)
    chance = 0.0
    for count in range(max(0, examined - (rows - stale)), min(found, stale, examined) + 1):
        chance += math.exp(_log_choose(stale, count) + _log_choose(rows - stale, examined - count) - whole)
    return min(chance, 1.0)


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)


def _up(share: float) -> str:
    return _percent(share, math.ceil)


def _down(share: float) -> str:
    return _percent(share, math.floor)


def _percent(share: float, rounded: Any) -> str:
    """Return a share in per cent with two digits, rounded away from what would be said too well."""
    if share <= 0:
        return "0 %"
    places = 1 - math.floor(math.log10(share * 100))
    value = rounded(round(share * 100 * 10**places, 6)) / 10**places
    return f"{value:.{max(places, 0)}f}".rstrip("0").rstrip(".") + " %" if places > 0 else f"{value:.0f} %"
