"""The closed set of units, and the words that count something. What is not here is no quantity."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A dimension, and how many of its base unit one of this unit are."""

    dimension: str
    scale: Decimal


TIME: Final = "time"
BYTES: Final = "bytes"
FRACTION: Final = "fraction"
POINTS: Final = "percentage points"
FLOP: Final = "FLOP"

_SECONDS: Final = {
    "1e-9": ("ns", "nanosecond", "nanoseconds"),
    "1e-6": ("µs", "μs", "us", "usec", "microsecond", "microseconds"),
    "1e-3": ("ms", "msec", "millisecond", "milliseconds"),
    "1": ("s", "sec", "secs", "second", "seconds"),
    "60": ("min", "mins", "minute", "minutes"),
    "3600": ("h", "hr", "hrs", "hour", "hours"),
    "86400": ("day", "days"),
    "604800": ("week", "weeks"),
}
_PREFIXES: Final = {"k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21}

TIMES: Final = {name: Unit(TIME, Decimal(scale)) for scale, names in _SECONDS.items() for name in names}
"""By symbol and by word, in small letters."""
SYMBOLS: Final = {
    **{name: unit for name, unit in TIMES.items() if len(name) < 3},
    **{f"{prefix}B": Unit(BYTES, Decimal(10) ** power) for prefix, power in _PREFIXES.items() if prefix != "Z"},
    **{f"{prefix}b": Unit(BYTES, Decimal(10) ** power) for prefix, power in zip("kmgt", (3, 6, 9, 12))},
    **{f"{prefix}iB": Unit(BYTES, Decimal(2) ** (10 * at)) for at, prefix in enumerate("KMGTP", 1)},
    **{f"{prefix}ib": Unit(BYTES, Decimal(2) ** (10 * at)) for at, prefix in enumerate("kmgt", 1)},
    "kb": Unit(BYTES, Decimal(1000)),
    "pp": Unit(POINTS, Decimal("0.01")),
    "FLOP": Unit(FLOP, Decimal(1)),
    "FLOPs": Unit(FLOP, Decimal(1)),
    **{f"{p}{name}": Unit(FLOP, Decimal(10) ** n) for p, n in _PREFIXES.items() for name in ("FLOP", "FLOPs")},
}
"""Written so and in no other case: 1 Mb is a megabit and h is no henry."""
WORDS: Final = {
    **{name: unit for name, unit in TIMES.items() if len(name) >= 3},
    "byte": Unit(BYTES, Decimal(1)),
    "bytes": Unit(BYTES, Decimal(1)),
    **{
        f"{name}byte{end}": Unit(BYTES, scale)
        for name, scale in (
            *(("kilo", Decimal(10) ** 3), ("mega", Decimal(10) ** 6), ("giga", Decimal(10) ** 9)),
            *(("tera", Decimal(10) ** 12), ("kibi", Decimal(2) ** 10), ("mebi", Decimal(2) ** 20)),
            *(("gibi", Decimal(2) ** 30), ("tebi", Decimal(2) ** 40)),
        )
        for end in ("", "s")
    },
    "percent": Unit(FRACTION, Decimal("0.01")),
    "per cent": Unit(FRACTION, Decimal("0.01")),
    "percentage point": Unit(POINTS, Decimal("0.01")),
    "percentage points": Unit(POINTS, Decimal("0.01")),
}
"""Written in any case."""
PER_SECOND: Final = {
    **{name: Unit(f"{FLOP}/s", Decimal(1)) for name in ("FLOPS",)},
    **{f"{prefix}FLOPS": Unit(f"{FLOP}/s", Decimal(10) ** power) for prefix, power in _PREFIXES.items()},
    **{f"{prefix.lower()}flops": Unit(f"{FLOP}/s", Decimal(10) ** power) for prefix, power in _PREFIXES.items()},
}
"""Rates that have a name of their own; that FLOPs are a number and FLOPS a rate is what the papers agree on."""
NOUNS: Final = {
    "tokens": ("token", "tokens", "tok", "toks"),
    "samples": ("sample", "samples", "example", "examples"),
    "steps": ("step", "steps", "iteration", "iterations"),
    "rows": ("row", "rows"),
    "files": ("file", "files"),
    "parameters": ("parameter", "parameters", "param", "params"),
}
COUNTED: Final = {name: Unit(noun, Decimal(1)) for noun, names in NOUNS.items() for name in names}
RATED: Final = {**COUNTED, "it": COUNTED["step"], "its": COUNTED["step"], "iter": COUNTED["step"], "t": COUNTED["tok"]}
"""What may stand before ``/s``: tqdm's it, llama.cpp's t."""
MULTIPLES: Final = {
    "k": 3,
    "K": 3,
    "M": 6,
    "B": 9,
    "G": 9,
    "T": 12,
    "bn": 9,
    "mn": 6,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
}
MONEY: Final = {
    "$": "dollars",
    "USD": "dollars",
    "dollar": "dollars",
    "dollars": "dollars",
    "€": "euros",
    "EUR": "euros",
    "euro": "euros",
    "euros": "euros",
}
SHARERS: Final = (
    *("it", "iter", "iteration", "step", "token", "tok", "sample", "example", "batch", "epoch", "row", "file", "image"),
    *("request", "call", "run", "layer", "GPU", "gpu", "device", "rank", "card", "node", "chip", "core", "worker"),
)
"""What a quantity may be shared out over, behind a slash, and be the same quantity: 90 ms/step."""
