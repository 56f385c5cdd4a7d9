"""What stands before a number: a sign, "about", a currency, or something that makes it no measurement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from affidavit.claims.quantity.unit import MONEY

_ABOUT: Final = re.compile(
    r"(?:[≈∼~]|\b(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|nearly|almost|some))[ \t]*\Z", re.I
)
_STRUCK: Final = re.compile(r"~~\Z")
_CURRENCY: Final = re.compile(r"(?:([$€])|\b(USD|EUR)) ?\Z")
_SPREAD: Final = re.compile(r"(?:±|\+/-|\+-|%\.?) ?\Z")
_SIGN: Final = re.compile(r"(?<![\w)\].+−-])[-−+]\Z")
_PART: Final = re.compile(r"(?:[-−+.:/\\§#@^%&)\]$€]|\w_|\d[,–]|\w ?\*|\d\*\*)\Z")
"""What makes a number a part of a name, a date, a version, an address, or a sum."""
_KEY: Final = re.compile(r"(?<![\w.])[A-Za-z_-]+:\Z")
_WORD: Final = re.compile(r"([A-Za-z][A-Za-z.]*)[ \t]\Z")
_NUMBERED: Final = frozenset(
    {
        *("section", "sec", "chapter", "table", "tab", "figure", "fig", "eq", "equation", "page", "line", "lines"),
        *("appendix", "version", "release", "issue", "port", "seed", "item", "rule", "no", "number", "python", "cuda"),
        *("question", "exercise", "algorithm", "example", "article", "clause", "note", "ref"),
    }
)
"""What stands before a number that is a name, whatever follows it."""
_ORDINAL: Final = frozenset(
    {
        *("step", "steps", "epoch", "layer", "rank", "phase", "stage", "level", "type", "part", "shard", "node", "gpu"),
        *("case", "code", "row", "file", "zero", "gpt", "llama", "gemma", "qwen", "mistral", "phi", "opus", "model"),
        *("id", "index", "day", "week", "track", "group", "option", "method", "class", "mode", "channel", "pass"),
    }
)
"""What stands before a number that is a name where a counted noun follows: ZeRO stage 3 parameters."""
_REACH: Final = 24
"""No word before a number that matters is longer."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """What is to the left of a number that may be a measurement.

    ``is_ordinal`` says that it counts nothing; ``is_clock`` that hours behind it are a time of day.
    """

    start: int
    sign: int = 1
    is_about: bool = False
    money: str = ""
    is_ordinal: bool = False
    is_clock: bool = False
    is_decade: bool = False


def left_of(text: str, start: int) -> Left | None:
    """Return what stands before the number that begins at ``start``, None where that makes it no measurement."""
    before = text[max(0, start - _REACH) : start]
    if not before:
        return Left(start=start)
    currency = _CURRENCY.search(before)
    if currency is not None and not before[: currency.start()].endswith(("$", "€")):
        rest = before[: currency.start()]
        return Left(
            start=start - len(before) + currency.start(),
            money=MONEY[currency[1] or currency[2]],
            is_about=_is_about(rest),
        )
    if _SPREAD.search(before):
        return None
    sign, at = 1, start
    signed = _SIGN.search(before)
    if signed is not None:
        sign, at, before = (1 if signed[0] == "+" else -1), start - 1, before[:-1]
    if _PART.search(before) and not _KEY.search(before):
        return None
    word = _WORD.search(before)
    name = word[1].rstrip(".").lower() if word is not None else ""
    if name in _NUMBERED or name == "v":
        return None
    return Left(
        start=at,
        sign=sign,
        is_about=_is_about(before),
        is_ordinal=name in _ORDINAL,
        is_clock=name in ("at", "until", "from", "since"),
        is_decade=name == "the",
    )


def _is_about(before: str) -> bool:
    return _STRUCK.search(before) is None and _ABOUT.search(before) is not None
