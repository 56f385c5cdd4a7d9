"""The sieve before the reader: a regular expression over bytes that finds the lines in which a quantity may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_lowercase
from typing import Final

from affidavit.claims.quantity import Quantity, quantities
from affidavit.claims.quantity.unit import BYTES, FLOP, FRACTION, MONEY, MULTIPLES, NOUNS, SYMBOLS, TIME, WORDS

_LONGEST: Final = 2000
"""Of a longer line, as of minified code, only what is around the number is looked at."""
_AROUND: Final = 400
_MARGIN: Final = 64
"""So near to the end of such a part a quantity may be cut; it is read in the next one."""

_ONE_DIGIT: Final = bytes.maketrans(b"123456789", b"0" * 9)
"""A text whose digits are all one is searched in half the time: for a byte, and not for one of ten."""


class Sieve:
    """What every quantity of some dimensions matches somewhere, in bytes of UTF-8; it lets through more than those.

    It begins with a digit and then asks for one sign, as most digits of a text are followed by something else. An
    amount whose currency stands before it has an expression of its own, which begins with that. ``expressions`` are
    what grep would be asked.
    """

    def __init__(self, dimensions: Iterable[str]) -> None:
        wanted = frozenset(dimensions)
        words = {
            name for name, unit in {**SYMBOLS, **WORDS}.items() if wanted & {unit.dimension, f"{unit.dimension}/s"}
        }
        words |= {"m"} if TIME in wanted else set()
        words |= {f"{prefix}flops" for prefix in ("", *"kmgtpez")} if f"{FLOP}/s" in wanted else set()
        words |= {name for noun in NOUNS if wanted & {noun, f"{noun}/s"} for name in NOUNS[noun]}
        words |= {"it", "its", "iter"} if "steps/s" in wanted else set()
        words |= {"t"} if "tokens/s" in wanted else set()
        currencies = {name for name, currency in MONEY.items() if currency in wanted}
        words |= {name for name in currencies if not name.isupper()} - {"$"}
        starts = {sign for name in words for sign in (name[:1].lower(), name[:1].upper())}
        between = rb""
        if wanted - {TIME, BYTES, FRACTION}:
            between = rb"(?:(?:" + _any_of(MULTIPLES) + rb")[ -]?)?(?:[a-z]{3,14}[ ])?"
            starts |= {*ascii_lowercase, *(name[0] for name in MULTIPLES)}
        words |= {name for name in currencies if name.isupper()}
        ways = [between + rb"(?i:" + _any_of(words) + rb")(?![A-Za-z])"] if words else []
        if FRACTION in wanted:
            ways.append(rb"%")
            starts |= {"%"}
        first = b"".join(re.escape(sign.encode()[:1]) for sign in sorted(starts))
        gap = rb"[ \xc2\xa0\xe2\x80\xaf-]{0,3}"
        patterns = [rb"[0-9]" + gap + rb"(?=[" + first + rb"])(?:" + b"|".join(ways) + rb")"] if ways else []
        patterns += [re.escape(name.encode()) + rb" ?[0-9]" for name in sorted(currencies) if not name.islower()]
        self.expressions = tuple(patterns)
        self._patterns = tuple(re.compile(pattern.replace(b"[0-9]", b"0")) for pattern in patterns)

    def lines_of(self, raw: bytes) -> Iterator[tuple[int, int]]:
        """Yield from where to where the lines go that are let through, each once."""
        done: set[int] = set()
        digits = raw.translate(_ONE_DIGIT)
        for pattern in self._patterns:
            end = -1
            for found in pattern.finditer(digits):
                at = found.start()
                if at < end:
                    continue
                start = raw.rfind(b"\n", 0, at) + 1
                end = raw.find(b"\n", found.end())
                end = len(raw) if end < 0 else end
                if end - start > _LONGEST:
                    start = _whole(raw, max(start, at - _AROUND))
                    stop = _whole(raw, min(end, found.end() + _AROUND))
                    end = stop - _MARGIN
                else:
                    stop = end
                if start not in done:
                    done.add(start)
                    yield start, stop


def read_line(raw: bytes, start: int, end: int) -> tuple[str, tuple[Quantity, ...]]:
    """Return a line, or a part of a long one, and its quantities; of what is cut at an end, half may be missing."""
    line = raw[start:end].decode("utf-8", "surrogateescape")
    is_begun, is_ended = start == 0 or raw[start - 1] == 0x0A, end == len(raw) or raw[end] == 0x0A
    first = 0 if is_begun else len(raw[start : start + _MARGIN].decode("utf-8", "surrogateescape"))
    last = len(line if is_ended else raw[start : end - _MARGIN].decode("utf-8", "surrogateescape"))
    return line, tuple(one for one in quantities(line) if first <= one.start and one.end <= last)


def _whole(raw: bytes, at: int) -> int:
    """Return the first byte of the character in which a byte is: none is read in two halves."""
    for one in range(at, max(at - 4, -1), -1):
        if one == len(raw) or raw[one] & 0xC0 != 0x80:
            return one
    return at


def _any_of(names: Iterable[str]) -> bytes:
    ordered = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in ordered).encode()
