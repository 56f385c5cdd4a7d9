"""The sieve before the reader: one regular expression over bytes that finds lines in which a quantity may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from affidavit.claims.quantity.unit import FLOP, FRACTION, MONEY, MULTIPLES, NOUNS, SYMBOLS, TIME, WORDS

_LONGEST: Final = 2000
"""Of a longer line, as of minified code, only what is around the number is looked at."""
_AROUND: Final = 400


def sieve(dimensions: Iterable[str]) -> re.Pattern[bytes]:
    """Return what every quantity of these dimensions matches somewhere, in bytes of UTF-8."""
    wanted = frozenset(dimensions)
    gap = rb"(?:[ -]|\xc2\xa0|\xe2\x80\xaf)?"
    tails: list[bytes] = []
    words = {name for name, unit in {**SYMBOLS, **WORDS}.items() if wanted & {unit.dimension, f"{unit.dimension}/s"}}
    if TIME in wanted:
        words |= {"m"}
    if words:
        tails.append(rb"(?i:" + _any_of(words) + rb")(?![A-Za-z])")
    if f"{FLOP}/s" in wanted:
        tails.append(rb"[kKMGTPEZkmgtpe]?(?i:flops)(?![A-Za-z])")
    if FRACTION in wanted:
        tails.append(rb"%")
    nouns = {name for noun in NOUNS if wanted & {noun, f"{noun}/s"} for name in NOUNS[noun]}
    if "steps/s" in wanted:
        nouns |= {"it", "its", "iter"}
    if "tokens/s" in wanted:
        nouns |= {"t"}
    if nouns:
        times = rb"(?:(?:" + _any_of(MULTIPLES) + rb")\b[ -]?)?(?:[a-z]{3,10}[ ])?"
        tails.append(times + rb"(?i:" + _any_of(nouns) + rb")(?![A-Za-z])")
    found = [rb"[0-9]" + gap + rb"(?:" + b"|".join(tails) + rb")"] if tails else []
    for currency in ("dollars", "euros"):
        if currency in wanted:
            names = [name for name, one in MONEY.items() if one == currency]
            found.append(rb"(?:" + _any_of(names) + rb")[ ]?[0-9]")
            found.append(rb"[0-9][ ]?(?:(?:" + _any_of(MULTIPLES) + rb")[ ]?)?(?:" + _any_of(names) + rb")")
    return re.compile(b"|".join(found) or rb"(?!)")


def lines_of(raw: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Yield from where to where the lines go that the sieve keeps, each once."""
    end = -1
    for found in pattern.finditer(raw):
        at = found.start()
        if at < end:
            continue
        start = raw.rfind(b"\n", 0, at) + 1
        end = raw.find(b"\n", found.end())
        end = len(raw) if end < 0 else end
        if end - start > _LONGEST:
            start, end = max(start, at - _AROUND), min(end, found.end() + _AROUND)
        yield start, end


def _any_of(names: Iterable[str]) -> bytes:
    ordered = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in ordered).encode()
