"""Copies of old values: found by dimension, by rounding, and by the words that stand around; ranked, with reasons.

The number that was known to be wrong was typed into the next launcher by the person who had measured the right one.
No tool that checks references sees that; a search for "4.3" sees every version number. A copy is a quantity of the
same dimension, within the rounding of the coarser of the two, beside words of the claim.

Source: playbook §4.7; anchors-mechanisms C7.
Blind to: a number whose unit stands on the next line; what shares no word with the claim; JSON, CSV and the like of
more than 64 KiB; lock files; changelogs, which say what was (``raw`` says why); ``measurements.jsonl`` itself; one
digit beside the claim itself; a rounding more than a quarter away, as "1 h" is of 1.4 h.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from affidavit.claims.copies.context import Context, Kinship, Surroundings, kinship
from affidavit.claims.copies.excused import generated, is_excused, is_limit
from affidavit.claims.copies.former import Told
from affidavit.claims.copies.position import Positions, Spans
from affidavit.claims.copies.raw import raw_of
from affidavit.claims.copies.sieve import Sieve, read_line
from affidavit.claims.quantity import Quantity, same
from affidavit.claims.sheet import Sheet

NEEDED: Final = {1: 1.5, 2: 1.0}
"""What shared words must weigh where a number has one or two digits that say something: 4 h is said of many things."""
NEEDED_MORE: Final = 0.75
SHARE: Final = 0.6
"""The part of the id's words that must be there."""
FARTHEST: Final = 0.25
"""How far apart two that are one in their rounding may lie, as a part of the larger: 1 s is no copy of 0.69 s."""
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A place that still says an old value.

    Args:
        found: what stands there; its ``start`` and ``end`` count characters of the file from its beginning, as UTF-8
            in which a wrong byte is one character.
        told: the claim, what was said of it, and what is to be said instead.
        rank: the higher, the surer.
    """

    path: Path
    found: Quantity
    told: Told
    rank: float
    reasons: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.found.line


class _Index:
    """Values by dimension and size, so that a thousand old ones cost what ten do."""

    def __init__(self, told: Iterable[Told]) -> None:
        by_dimension: dict[str, list[Told]] = {}
        for one in told:
            by_dimension.setdefault(one.value.dimension, []).append(one)
        self._told = {name: sorted(ones, key=lambda one: one.value.value) for name, ones in by_dimension.items()}
        self._values = {name: [one.value.value for one in ones] for name, ones in self._told.items()}
        self.dimensions = frozenset(by_dimension)

    def near(self, found: Quantity) -> Iterator[Told]:
        values = self._values.get(found.dimension)
        if values is None:
            return
        reach = float(found.half_width) * (1 + 1e-9)
        first = bisect.bisect_left(values, found.value - reach)
        last = bisect.bisect_right(values, found.value + reach)
        reached = self._told[found.dimension][first:last]
        yield from (one for one in reached if same(found, one.value) and _is_close(found, one.value))


def copies(told: Iterable[Told], files: Iterable[Path]) -> tuple[Copy, ...]:
    """Return the places in which old values still stand, the surest first.

    Args:
        told: the values that stand no longer, as ``formers`` gives them.
        files: texts; what is no text among them is passed over.
    """
    index = _Index(told)
    if not index.dimensions:
        return ()
    sieve = Sieve(index.dimensions)
    found = [one for path in files for one in _in_file(path, index, sieve)]
    return tuple(sorted(found, key=lambda one: (-one.rank, str(one.path), one.found.start, one.told.claim)))


def _in_file(path: Path, index: _Index, sieve: Sieve) -> Iterator[Copy]:
    raw = raw_of(path)
    positions = Positions(raw)
    around: Surroundings | None = None
    taken, done = Spans(), set[int]()
    for start, end in sieve.lines_of(raw):
        line, said = read_line(raw, start, end)
        near = [(one, told) for one in said for told in index.near(one)]
        if not near:
            continue
        if around is None:
            text = raw.decode("utf-8", "surrogateescape")
            around, taken = Surroundings(path, text), Spans((*generated(text), *anchored(path, text)))
        begins, number = positions.of(start)
        meant = [
            (one, told)
            for one, told in near
            if begins + one.start not in taken
            and begins + one.start not in done
            and not (told.now is not None and same(one, told.now))
            and not is_excused(line, one, told.now, said)
            and not is_limit(line, one, told.claim)
        ]
        if meant:
            context = around.of(begins, begins + len(line))
            for copy in _best(path, meant, context):
                done.add(begins + copy.found.start)
                yield placed(copy, begins, number)


def _best(path: Path, near: Iterable[tuple[Quantity, Told]], context: Context) -> Iterable[Copy]:
    """Return for each quantity of a line the claim that it is likeliest a copy of."""
    best: dict[int, Copy] = {}
    for one, told in near:
        kin = kinship(told, context)
        needed = NEEDED.get(min(one.digits, told.value.digits), NEEDED_MORE)
        if kin.share < SHARE or kin.weight < needed - _TINY:
            continue
        rank = kin.weight / needed + _closeness(one, told.value) / 2
        if one.start not in best or best[one.start].rank < rank:
            best[one.start] = Copy(
                path=path, found=one, told=told, rank=rank, reasons=_reasons(one, told, kin, context)
            )
    return best.values()


def anchored(path: Path, text: str) -> tuple[tuple[int, int], ...]:
    """Return where numbers stand that carry the id of a claim: they are held against their measurement by that."""
    if "claim:" not in text:
        return ()
    return tuple((one.at.start, one.at.end) for one in Sheet(path, text).anchors)


def placed(copy: Copy, begins: int, line: int) -> Copy:
    """Return what was found in a line at its place in the file."""
    found = replace(copy.found, start=copy.found.start + begins, end=copy.found.end + begins, line=line)
    return replace(copy, found=found)


def _is_close(one: Quantity, value: Quantity) -> bool:
    return abs(one.value - value.value) <= FARTHEST * max(abs(one.value), abs(value.value))


def _closeness(one: Quantity, value: Quantity) -> float:
    """Return 1 where two say exactly the same, and 0 where they are as far apart as rounding allows."""
    reach = max(one.half_width, value.half_width)
    return 1.0 - float(abs(one.exact - value.exact) / reach) if reach else 1.0


def _reasons(one: Quantity, told: Told, kin: Kinship, context: Context) -> tuple[str, ...]:
    is_exact = one.exact == told.value.exact
    was = f"{one.written} is {told.value.written}" if is_exact else f"{one.written} is {told.value.written}, rounded"
    shared = f"beside {', '.join(kin.words[:4])}"
    over = (f"under {context.above!r}",) if kin.above and context.above else ()
    return (was, shared, *over)
