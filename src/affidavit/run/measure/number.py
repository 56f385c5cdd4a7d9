"""One number out of several: the median, and how far they spread.

Source: ``statistics``: the median, the sample's standard deviation, quartiles that include both ends.
Blind to: two heaps of values, a trend from the first to the last.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit.run.measure.error import unmeasured

FEW = 4
"""From so many values on there are quartiles worth the name; fewer have a standard deviation."""
SECONDS_IN = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, kw_only=True)
class Number:
    """A median with its spread, both in the unit of the values: ``iqr``, ``sd``, or None and "" for a single value."""

    value: float
    spread: float | None
    spread_is: str
    n: int


def number_of(values: Sequence[float]) -> Number:
    """Return the median of values.

    Raises:
        MeasureError: there is none, or one that is not finite.
    """
    if not values or not all(math.isfinite(value) for value in values):
        saw = f"{next((value for value in values if not math.isfinite(value)), 'none')}"
        raise unmeasured(subject="value", expected="finite numbers", saw=saw, action="Look at what was measured.")
    value = float(statistics.median(values))
    if len(values) == 1:
        return Number(value=value, spread=None, spread_is="", n=1)
    if len(values) < FEW:
        return Number(value=value, spread=statistics.stdev(values), spread_is="sd", n=len(values))
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return Number(value=value, spread=high - low, spread_is="iqr", n=len(values))


def plain_number(value: object) -> float | None:
    """Return what JSON holds as a number; None for a truth value, text, or an integer beyond every double."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
