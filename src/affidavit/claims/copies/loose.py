"""Numbers in comments of what is run that speak of a claim and do not name it: they will be the next old ones.

Source: playbook §4.7.
Blind to: docstrings and printed text; numbers that share only some of the claim's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from affidavit.claims.copies.context import Context, Surroundings, kinship
from affidavit.claims.copies.finder import Copy, anchored, placed
from affidavit.claims.copies.former import Told
from affidavit.claims.copies.position import Positions, Spans
from affidavit.claims.copies.raw import raw_of
from affidavit.claims.copies.sieve import Sieve, read_line
from affidavit.claims.quantity import Quantity

_COMMENT: Final = re.compile(r"(?:^|[ \t;])#")
_NEEDED: Final = 1.5


def loose(told: Iterable[Told], files: Iterable[Path]) -> tuple[Copy, ...]:
    """Return numbers in comments that stand beside every word of a claim's id, in its dimension, and carry no id.

    Args:
        told: the claims that stand, as ``standing`` gives them.
        files: what is run: launchers, scripts, configs.
    """
    claims = tuple(told)
    sieve = Sieve({one.value.dimension for one in claims})
    found = [one for path in files for one in _in_file(path, claims, sieve)]
    return tuple(sorted(found, key=lambda one: (-one.rank, str(one.path), one.found.start)))


def _in_file(path: Path, claims: tuple[Told, ...], sieve: Sieve) -> Iterator[Copy]:
    raw = raw_of(path)
    positions = Positions(raw)
    around: Surroundings | None = None
    taken, done = Spans(), set[int]()
    for start, end in sieve.lines_of(raw):
        line, said = read_line(raw, start, end)
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        if around is None:
            text = raw.decode("utf-8", "surrogateescape")
            around, taken = Surroundings(path, text), Spans(anchored(path, text))
        begins, number = positions.of(start)
        free = [one for one in said if one.start >= comment.start() and begins + one.start not in done]
        free = [one for one in free if begins + one.start not in taken]
        if not free:
            continue
        context = around.of(begins, begins + len(line))
        for one in free:
            best = max((_held(path, one, claim, context) for claim in claims), key=_rank, default=None)
            if best is not None and best.rank:
                done.add(begins + one.start)
                yield placed(best, begins, number)


def _held(path: Path, one: Quantity, claim: Told, context: Context) -> Copy:
    """Return how a number stands to a claim; one that does not speak of it has no rank."""
    kin = kinship(claim, context)
    is_kin = one.dimension == claim.value.dimension and kin.share == 1.0 and kin.weight >= _NEEDED
    said = f"beside {', '.join(kin.words[:4])}, and without claim:{claim.claim}"
    return Copy(path=path, found=one, told=claim, rank=kin.weight if is_kin else 0.0, reasons=(said,))


def _rank(copy: Copy) -> float:
    return copy.rank
