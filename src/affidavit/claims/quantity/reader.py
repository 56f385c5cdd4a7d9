"""Quantities found in text: a reader of our own, with a closed set of units.

A general library of units takes "1h 12m" for 12 hour-metres, "2m25.5s" for metres to the 25, H200 for henries, and
does not know "4.3 HOURS"; what it makes of prose is a false alarm or a miss. This one knows few units and refuses
what only looks like them: names of devices and models, dates, sections, versions, addresses, formats, code.

Source: playbook §4.7.
Blind to: numbers in words; a comma for the decimal point; a bare ``d`` or ``m``; bits; money of one digit, as $3 is an
argument of a shell; any unit that is not in ``unit``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from affidavit.claims.quantity.left import Left, left_of
from affidavit.claims.quantity.number import LONGEST, NUMBER, Number, number_of
from affidavit.claims.quantity.quantity import Quantity
from affidavit.claims.quantity.tail import Tail, compound, money_of, tail_of, unit_of
from affidavit.claims.quantity.unit import NOUNS, TIME

_CLOCK: Final = re.compile(
    r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(\.\d+)?[ ]?(h|hrs?|hours?|mins?|minutes?)(?![\w(\[=]|\.\w)", re.I
)
_JOIN: Final = re.compile(r"[ ]?(?:(?P<spread>±|\+/-|\+-)|--?|–|—|to\b)[ ]?(?P<about>~?)(?=\d)")
_COMPOUNDED: Final = re.compile(r" ?[dhmsDHMS][a-zA-Z]{0,6}(?: and |,? )?\d")
_CURRENCIES: Final = ("$", "€", "SD", "UR")
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`]+", re.I)
_DECADE: Final = re.compile(r"(?:1[89]|20)?\d0s\Z")
_SHARED_OUT: Final = re.compile(r"\s(?:of|are|were)\b")


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return every quantity of a text, in its order, each with its line, counted from 1."""
    addresses = [found.span() for found in _ADDRESS.finditer(text)] if "://" in text else []
    found: list[Quantity] = []
    at, line, counted = 0, 1, 0
    while match := NUMBER.search(text, at):
        at = match.end()
        if at - match.start() > LONGEST or any(start <= match.start() < end for start, end in addresses):
            continue
        for one in _read(text, match):
            line += text.count("\n", counted, one.start)
            counted = one.start
            found.append(replace(one, line=line))
            at = max(at, one.end)
    return tuple(found)


def quantity_of(value: float, unit: str) -> Quantity | None:
    """Return a measured value as a quantity that is exact, None where its unit is not of the closed set."""
    exact = Decimal(repr(float(value)))
    written = f"1 {unit}"
    tail = unit_of(unit)
    if tail is None or not exact.is_finite():
        return None
    match = NUMBER.fullmatch(f"{abs(exact):f}")
    digits = number_of(match).digits if match is not None else 1
    number = Number(exact, 0, digits, 0, 1)
    return replace(_made(written, number, tail, Left(start=0)), half_width=Decimal(0), written=f"{value:g} {unit}")


def _read(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    """Yield what begins at a number: nothing, one quantity, or the two ends of a range.

    Most numbers have no unit, so that is what is asked first.
    """
    start, end = match.span()
    if text[max(0, start - 4) : start].rstrip().endswith(_CURRENCIES):
        left = left_of(text, start)
        if left is not None and left.money:
            yield from _amount(text, match, left)
            return
    tail = tail_of(text, end)
    clock = _CLOCK.match(text, start) if text[end : end + 1] == ":" else None
    whole = compound(text, start) if _COMPOUNDED.match(text, end) else None
    join = _JOIN.match(text, end) if tail is None else None
    if tail is None and clock is None and whole is None and join is None:
        return
    left = left_of(text, start)
    if left is None or left.money:
        return
    if clock is not None:
        if not left.is_clock:
            yield _clocked(text, clock, left)
    elif whole is not None:
        yield _made(text, Number(whole.exact / whole.scale, whole.places, 3, start, whole.unit), whole.tail, left)
    elif tail is None:
        yield from _joined(text, number_of(match), left, join)
    else:
        number = number_of(match)
        if not _is_name(text, number, tail, left):
            yield _made(text, number, tail, left)


def _amount(text: str, match: re.Match[str], left: Left) -> Iterator[Quantity]:
    """Yield money whose currency stands before it; one digit alone is an argument of a shell."""
    tail = money_of(left.money, text, match.end())
    if tail is not None and (len(match[0]) > 1 or tail.end > match.end()):
        yield _made(text, number_of(match), tail, left)


def _is_name(text: str, number: Number, tail: Tail, left: Left) -> bool:
    """Say whether a number names something: a stage, a decade, "100s of them"."""
    noun = tail.dimension.partition("/")[0]
    if left.is_ordinal and noun in NOUNS and number.places <= 0:
        return True
    if text[number.end : tail.end] != "s":
        return False
    written = text[number.start : tail.end]
    is_decade = _DECADE.fullmatch(written) is not None and (left.is_decade or len(written) == 5)
    return is_decade or _SHARED_OUT.match(text, tail.end) is not None


def _joined(text: str, number: Number, left: Left, join: re.Match[str] | None) -> Iterator[Quantity]:
    """Yield the two ends of a range, or one value with its spread, where the unit stands behind the second only."""
    match = NUMBER.match(text, join.end()) if join is not None else None
    tail = tail_of(text, match.end()) if match is not None else None
    if join is None or match is None or tail is None or _is_name(text, number, tail, left):
        return
    second = number_of(match)
    first = _made(text, number, tail, left)
    if join["spread"]:
        spread = second.value * tail.scale
        yield replace(first, half_width=max(first.half_width, spread))
        return
    whole = text[left.start : tail.end]
    last = Left(start=second.start, is_about=left.is_about or bool(join["about"]))
    yield replace(first, written=text[left.start : number.end], end=number.end, unit="", whole=whole)
    yield replace(_made(text, second, tail, last), whole=whole)


def _clocked(text: str, clock: re.Match[str], left: Left) -> Quantity:
    """Return 1:12 h, or 2:25 min, with what the unit says the first number is."""
    parts = [Decimal(part) for part in clock.group(1, 2, 3) if part is not None]
    of_hours = clock[5].lower().startswith("h") or len(parts) == 3
    scales = [Decimal(scale) for scale in ((3600, 60, 1) if of_hours else (60, 1))][: len(parts)]
    fraction = clock[4] or ""
    value = sum((part * scale for part, scale in zip(parts, scales)), Decimal(0)) + Decimal(fraction or 0) * scales[-1]
    number = Number(value / scales[-1], max(0, len(fraction) - 1), 3, clock.start(), clock.start(5))
    return _made(text, number, Tail(TIME, scales[-1], clock.end()), left)


def _made(text: str, number: Number, tail: Tail, left: Left) -> Quantity:
    return Quantity(
        exact=left.sign * number.value * tail.scale,
        dimension=tail.dimension,
        half_width=(number.about if left.is_about else number.step / 2) * tail.scale,
        written=text[left.start : tail.end],
        start=left.start,
        end=tail.end,
        line=0,
        unit=text[number.end : tail.end],
        scale=tail.scale,
        places=number.places,
        digits=number.digits,
        is_about=left.is_about,
    )
