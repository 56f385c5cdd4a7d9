"""A quantity as it is written somewhere, and when two of them say the same."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number with its unit, at its place in a text.

    Args:
        exact: the value in the base unit of its dimension: s, bytes, a fraction, tokens/s, FLOP/s.
        dimension: ``time``, ``bytes``, ``fraction``, ``percentage points``, ``FLOP``, ``dollars``, ``euros``, a counted
            noun such as ``tokens``, or one of these per second: ``tokens/s``, ``bytes/s``.
        half_width: how far the true value may lie from it, by the digits that are written, in the base unit.
        written: the text itself, from the number to the end of the unit.
        unit: the unit as it is written, with what stands before it: `` HOURS``, ``%``.
        scale: base units in one of the written unit.
        places: decimals that are written, negative where a thousand or a million is the last that counts.
        digits: digits that say something; "about" says one less.
        whole: the range as it is written, of a quantity that is one end of it; else "".
    """

    exact: Decimal
    dimension: str
    half_width: Decimal
    written: str
    start: int
    end: int
    line: int
    unit: str
    scale: Decimal
    places: int
    digits: int
    is_about: bool = False
    whole: str = ""

    @property
    def value(self) -> float:
        return float(self.exact)


def same(one: Quantity, other: Quantity) -> bool:
    """Say whether two quantities can be one and the same: as near as the rounding of the coarser of them allows."""
    if one.dimension != other.dimension:
        return False
    return abs(one.exact - other.exact) <= max(one.half_width, other.half_width)


def in_form(exact: Decimal, like: Quantity) -> str:
    """Return a value of the base unit in the unit and the rounding of another, "" where two digits would not be left.

    A value that is a hundredth of what stood there is not said in its unit: 145.5 s are no 0.0 HOURS.
    """
    number = exact / like.scale
    places = max(like.places, 0)
    rounded = round(number, places)
    significant = str(abs(rounded)).replace(".", "").lstrip("0")
    if number != rounded and len(significant) < 2:
        return ""
    return f"{rounded:,.{places}f}{like.unit}" if "," in like.written else f"{rounded:.{places}f}{like.unit}"
