"""What stands behind a number: a unit of the closed set, with its multiple and what it is taken per, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

from affidavit.claims.quantity.unit import (
    COUNTED,
    FRACTION,
    MONEY,
    MULTIPLES,
    PER_SECOND,
    RATED,
    SHARERS,
    SYMBOLS,
    TIME,
    TIMES,
    WORDS,
    Unit,
)


class Tail(NamedTuple):
    """A unit: from the end of the number up to ``end``."""

    dimension: str
    scale: Decimal
    end: int


class Compound(NamedTuple):
    """Hours, minutes and seconds that are one time; ``scale`` is the last unit's, whose name begins at ``unit``."""

    exact: Decimal
    scale: Decimal
    places: int
    unit: int
    end: int

    @property
    def tail(self) -> Tail:
        return Tail(TIME, self.scale, self.end)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(names, key=len, reverse=True))


_SHARED: Final = rf"(?:\s?/\s?(?:{_any_of(SHARERS)})s?\b|\sper\s(?:{_any_of(SHARERS)})\b)?"
_PER_TIME: Final = rf"(?:\s?/\s?|\sper\s)(?P<per>{_any_of((*TIMES,))})(?![\w])"
_AFTER: Final = rf"(?={_SHARED}(?![\w(\[=/\\]|\.\w))"
"""What ends a unit: it is no call, no key, no name, and no part of another unit."""
_SYMBOL: Final = re.compile(
    rf"(?:[ \u00a0\u202f]|-(?=h\b))?(?P<unit>{_any_of(SYMBOLS)})(?![\w])(?:/s(?:ec)?(?!\w))?{_AFTER}(?!-[A-Za-z])"
)
_WORD: Final = re.compile(
    rf"[ \u00a0\u202f\n-]?(?P<unit>{_any_of(WORDS)})(?![\w])(?:/s(?:ec)?(?!\w)|\sper\ssecond(?!\w))?{_AFTER}", re.I
)
_PERCENT: Final = re.compile(r"[ \u00a0\u202f]?%%?(?![\w(\[}=*]|\s?\d|\.\w|-\w|/)")
_FLOPS: Final = re.compile(rf"[ \u00a0\u202f]?(?P<unit>{_any_of(PER_SECOND)})(?![\w]){_AFTER}")
_COUNT: Final = re.compile(
    rf"(?:[ \u00a0\u202f]?(?P<times>{_any_of(MULTIPLES)})(?![A-Za-z]))?[ \u00a0\u202f\n-]?"
    r"(?:(?!(?:and|for|the|are|out|per|with|from|more|other|different|such|that|not|but|has|was)\b)[a-z]{3,14}[ ])?"
    rf"(?:(?P<rated>(?i:{_any_of(RATED)}))(?:{_PER_TIME})|(?P<counted>(?i:{_any_of(COUNTED)}))(?![\w])){_AFTER}"
)
_COMPOUND: Final = re.compile(
    "".join(
        rf"(?:(?P<{name}>\d+{fraction})[ ]?(?:{units})(?![A-Za-z])(?:[ ]and[ ]|,?[ ])?)?"
        for name, fraction, units in (
            ("d", "", "days?|d"),
            ("h", "", "hours?|hrs?|h"),
            ("m", "", "minutes?|mins?|m"),
            ("s", r"(?:\.\d+)?", "seconds?|secs?|s"),
            ("ms", r"(?:\.\d+)?", "milliseconds?|ms"),
        )
    ),
    re.I,
)
_UNIT: Final = re.compile(r"[ ]?[A-Za-z]+(?![\w(\[=]|\.\w)")
_SCALES: Final = {"d": Decimal(86400), "h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("0.001")}
_MOST: Final = {"d": 10**6, "h": 24, "m": 60, "s": 60, "ms": 1000}
_MONEY_BEHIND: Final = re.compile(
    rf"[ \u00a0\u202f]?(?:(?P<times>k|K|M|B|bn|thousand|million|billion)[ ]?)?"
    rf"(?P<unit>€|(?:{_any_of(n for n in MONEY if n.isalpha())}))"
    r"(?!\w|\.\w|[/(\[]|\s?(?:per|an?)\b)"
)
_MONEY_BEFORE: Final = re.compile(
    r"(?:[ ]?(?P<times>k|K|M|B|bn|thousand|million|billion))?(?![\w%]|\.\w|\s?/|[(\[{}]|\s(?:per|an?)\s)"
)


def tail_of(text: str, at: int) -> Tail | None:
    """Return the unit that begins at the end of a number."""
    percent = _PERCENT.match(text, at)
    if percent is not None:
        return Tail(FRACTION, Decimal("0.01"), percent.end())
    symbol = _SYMBOL.match(text, at)
    if symbol is not None:
        return _simple(symbol, SYMBOLS[symbol["unit"]])
    word = _WORD.match(text, at)
    if word is not None:
        return _simple(word, WORDS[re.sub(r"\s", " ", word["unit"].lower())])
    rate = _FLOPS.match(text, at)
    if rate is not None:
        return Tail(*PER_SECOND[rate["unit"]], rate.end())
    count = _COUNT.match(text, at)
    if count is not None:
        return _counted(count)
    money = _MONEY_BEHIND.match(text, at)
    return None if money is None else _money(MONEY[money["unit"]], money)


def unit_of(written: str) -> Tail | None:
    """Return the unit that a text is, None where it is none, or more than one."""
    text = f"1 {written}"
    tail = tail_of(text, 1)
    return tail if tail is not None and tail.end == len(text) else None


def money_of(currency: str, text: str, at: int) -> Tail | None:
    """Return what stands behind an amount whose currency stands before it."""
    found = _MONEY_BEFORE.match(text, at)
    return None if found is None else _money(currency, found)


def compound(text: str, at: int) -> Compound | None:
    """Return a time of several units, as 1 h 12 min, where the parts after the first each fit into the one before."""
    found = _COMPOUND.match(text, at)
    given = [(name, part) for name, part in (found.groupdict() if found else {}).items() if part is not None]
    if found is None or len(given) < 2 or any(Decimal(part) >= _MOST[name] for name, part in given[1:]):
        return None
    last, written = given[-1]
    start = found.start(last) + len(written)
    unit = _UNIT.match(text, start)
    if unit is None:
        return None
    return Compound(
        exact=sum((Decimal(part) * _SCALES[name] for name, part in given), Decimal(0)),
        scale=_SCALES[last],
        places=len(written.partition(".")[2]),
        unit=start,
        end=unit.end(),
    )


def _simple(found: re.Match[str], unit: Unit) -> Tail | None:
    is_rate = found.end() > found.end("unit")
    if not is_rate:
        return Tail(unit.dimension, unit.scale, found.end())
    return None if unit.dimension in (TIME, FRACTION) else Tail(f"{unit.dimension}/s", unit.scale, found.end())


def _counted(found: re.Match[str]) -> Tail:
    times = Decimal(10) ** MULTIPLES[found["times"]] if found["times"] else Decimal(1)
    if found["rated"] is None:
        return Tail(COUNTED[found["counted"].lower()].dimension, times, found.end())
    return Tail(f"{RATED[found['rated'].lower()].dimension}/s", times / TIMES[found["per"]].scale, found.end())


def _money(currency: str, found: re.Match[str]) -> Tail:
    times = Decimal(10) ** MULTIPLES[found["times"]] if found["times"] else Decimal(1)
    return Tail(currency, times, found.end())
