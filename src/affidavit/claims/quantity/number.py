"""The number of a quantity, as it is written: its value, its decimals, and how much of it says something."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

_DIGITS: Final = r"(?!0\d)(?:\d{1,3}(?:[,_\u202f\u2009\u00a0]\d{3})+(?![\d]|,\d)|\d+)"
NUMBER: Final = re.compile(
    rf"(?<![A-Za-z0-9.])(?:{_DIGITS}(?:\.\d+)?|(?<![)\]])\.\d+)"
    r"(?:[eE][+-]?\d{1,2}(?!\d)|[ ]?[×x][ ]?10\^\d{1,2}(?!\d))?"
)
_SEPARATORS: Final = str.maketrans("", "", ",_\u202f\u2009\u00a0")
_POWER: Final = re.compile(r"[ ]?[×x][ ]?10\^")
LONGEST: Final = 40
"""A longer row of digits is no measurement."""


class Number(NamedTuple):
    """A number at its place.

    Args:
        places: its decimals, negative where the last digit stands for tens or thousands.
        digits: those that say something, which the zeros at the end of a whole number do not.
    """

    value: Decimal
    places: int
    digits: int
    start: int
    end: int

    @property
    def step(self) -> Decimal:
        """One in the last digit that is written."""
        return Decimal(10) ** -self.places

    @property
    def about(self) -> Decimal:
        """How far "about" reaches: twice the rounding; zeros of a whole number beyond its second digit say nothing."""
        if self.places > 0 or not self.value:
            return self.step
        written = str(int(self.value))
        zeros = len(written) - len(written.rstrip("0"))
        return max(self.step, Decimal(10) ** max(0, min(zeros, len(written) - 2)))


def number_of(found: re.Match[str]) -> Number:
    """Return what a match of ``NUMBER`` says."""
    value = Decimal(_POWER.sub("e", found[0].translate(_SEPARATORS)))
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # a match is finite
    places = -exponent
    significant = str(abs(value).scaleb(places)).split("E")[0].split(".")[0].lstrip("0")
    digits = len(significant) if places > 0 else len(significant.rstrip("0"))
    return Number(value, places, max(1, digits), *found.span())
