"""Numbers in comments of what is run that speak of a claim and do not name it: they will be the next old ones.

Source: playbook §4.7.
Blind to: docstrings and printed text; numbers that share only some of the claim's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from affidavit.claims.copies.context import Context, context_of, kinship
from affidavit.claims.copies.finder import Copy, anchored, is_within, placed
from affidavit.claims.copies.former import Told
from affidavit.claims.copies.raw import raw_of
from affidavit.claims.copies.sieve import Sieve
from affidavit.claims.quantity import Quantity, quantities

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
    text = raw.decode("utf-8", "surrogateescape")
    taken = anchored(path, text)
    for start, end in sieve.lines_of(raw):
        line = raw[start:end].decode("utf-8", "surrogateescape")
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        begins = len(raw[:start].decode("utf-8", "surrogateescape"))
        context = context_of(path, text, begins, begins + len(line))
        number = text.count("\n", 0, begins) + 1
        for one in quantities(line):
            if one.start < comment.start() or is_within(begins + one.start, taken):
                continue
            best = max((_held(path, one, claim, context) for claim in claims), key=_rank, default=None)
            if best is not None and best.rank:
                yield replace(best, found=placed(one, begins, number))


def _held(path: Path, one: Quantity, claim: Told, context: Context) -> Copy:
    """Return how a number stands to a claim; one that does not speak of it has no rank."""
    kin = kinship(claim, context)
    is_kin = one.dimension == claim.value.dimension and kin.share == 1.0 and kin.weight >= _NEEDED
    said = f"beside {', '.join(kin.words[:4])}, and without claim:{claim.claim}"
    return Copy(path=path, found=one, told=claim, rank=kin.weight if is_kin else 0.0, reasons=(said,))


def _rank(copy: Copy) -> float:
    return copy.rank
