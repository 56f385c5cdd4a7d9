"""How a measured number is written: as it stands in a table, and in the unit and rounding of another place.

Blind to: compounds (``2m25s``) and money with its sign in front; they get the measurement's own unit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Final

from affidavit.claims.quantity import Quantity, in_form, quantity_of
from affidavit.claims.quantity.tail import Tail
from affidavit.claims.quantity.unit import FRACTION
from affidavit.record.measurement import Measurement

_DIGITS: Final = 4
_DIGITS_LEAST: Final = 2
_PRECISION: Final = 700
"""Digits enough for every double, so that none is too large to be rounded."""
_PLAIN: Final = {ord(","): None, ord("_"): None, ord("−"): "-"}
_PLACED: Final = re.compile(r"[-+−]?[\d,_]*(?:\.\d+)?")
_ABOUT: Final = re.compile(r"[~≈][ \t]?")


def as_written(measured: Measurement) -> str:
    """Return a measured value with its unit: whole numbers whole, others to four digits that count."""
    return " ".join(part for part in (number(measured.value), measured.unit) if part)


def number(value: float) -> str:
    """Return a number without an exponent, to four digits that count; whole ones and the digits before a point stay."""
    exact = Decimal(repr(float(value)))
    if exact == exact.to_integral_value():
        return f"{int(exact):,}" if abs(exact) >= 10_000 else str(int(exact))
    places = min(max(0, _DIGITS - 1 - exact.adjusted()), -_exponent(exact))
    rounded = round(exact, places)
    return f"{rounded:,f}" if abs(rounded) >= 10_000 else f"{rounded:f}"


def as_quantity(measured: Measurement, like: Quantity) -> Quantity | None:
    """Return what was measured as a quantity, None where its unit is none that is known.

    A share that was measured without a unit is one in percent, too, where it is held against one.
    """
    if not measured.unit and like.dimension == FRACTION:
        percent = quantity_of(1.0, "%")
        return None if percent is None else replace(percent, exact=Decimal(repr(float(measured.value))))
    return quantity_of(measured.value, measured.unit)


def in_place_of(written: str, quantity: Quantity | None, measured: Measurement, unit: Tail | None = None) -> str:
    """Return a measured value as it is written in place of another: in its unit and rounding where that says enough.

    "4.3 HOURS" becomes "145.5 s", and not "0.0 HOURS".

    Args:
        written: what stands there.
        quantity: what that says, or None of a bare number, which stays one.
        unit: what a bare number is in, None where it is in the unit of what was measured.
    """
    with localcontext(prec=_PRECISION):
        return _in_place_of(written, quantity, measured) if quantity is not None else _bare(written, measured, unit)


def in_unit(measured: Measurement, unit: Tail | None) -> Decimal:
    """Return a measured value in a unit; as it was measured where there is none, or it is of something else."""
    value = Decimal(repr(float(measured.value)))
    if unit is None:
        return value
    exact = value if not measured.unit and unit.dimension == FRACTION else None
    found = quantity_of(measured.value, measured.unit)
    if found is not None and found.dimension == unit.dimension:
        exact = found.exact
    return value if exact is None else exact / unit.scale


def bare_number(written: str) -> Decimal:
    """Return what a number without a unit says, with as many decimals as it is written with."""
    return Decimal(written.translate(_PLAIN))


def _in_place_of(written: str, quantity: Quantity, measured: Measurement) -> str:
    about = _ABOUT.match(written)
    exact = as_quantity(measured, quantity)
    is_kin = exact is not None and exact.dimension == quantity.dimension and bool(quantity.unit.strip())
    formed = in_form(exact.exact, quantity) if exact is not None and is_kin else ""
    if not formed and not measured.unit and is_kin:
        formed = f"{number(float(Decimal(repr(float(measured.value))) * 100))}{quantity.unit}"
    return f"{about[0] if about else ''}{formed or as_written(measured)}"


def _bare(written: str, measured: Measurement, unit: Tail | None) -> str:
    """Return a number in the rounding of another where that says enough, else in ours; it is grouped as that one is."""
    exact = in_unit(measured, unit)
    places = len(written.partition(".")[2])
    rounded = round(exact, places)
    says_enough = rounded == exact or len(str(abs(rounded)).replace(".", "").lstrip("0")) >= _DIGITS_LEAST
    if not says_enough or not _PLACED.fullmatch(written):
        text = number(float(exact)).replace(",", "")
    else:
        text = f"{rounded:.{places}f}"
    group = "_" if "_" in written else "," if "," in written else ""
    if group:
        text = f"{Decimal(text):,f}".replace(",", group)
    minus = text.replace("-", "−") if "−" in written else text
    return f"+{minus}" if written.startswith("+") and exact >= 0 else minus


def _exponent(exact: Decimal) -> int:
    exponent = exact.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
