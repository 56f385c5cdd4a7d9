"""Places that may say an old number: they say that it is old, or they state a limit beside what was measured.

A line that states the old value as superseded is what we ask for; to report it would teach people to delete it.

Blind to: a line that only says "was" or "not", and not what is right: it is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from affidavit.claims.quantity import Quantity, same

_OLD: Final = re.compile(
    r"\b(?:supersed\w+|retract\w+|no longer (?:true|holds|right|current)|wrongly|was wrong|were wrong|outdated|"
    r"stale (?:number|claim|value|copy)|erratum|corrected (?:from|on|to)|correction|falls)\b",
    re.I,
)
_INSTEAD: Final = re.compile(
    r"\b(?:not|was|were|instead of|rather than|used to|formerly|previously|earlier|before|old|down from|up from|from|"
    r"really|actually|really)\b|->|→|=>",
    re.I,
)
_STRUCK: Final = re.compile(r"~~[^~\n]+~~|<(?:s|del)>.*?</(?:s|del)>", re.I)
_GENERATED: Final = re.compile(
    r"<!--[ \t]*affidavit:(?P<name>superseded|correct(?:ion)?)\b.*?<!--[ \t]*/affidavit:(?P=name)\b", re.S
)


def generated(text: str) -> tuple[tuple[int, int], ...]:
    """Return the parts of a text that we wrote: the table of what was superseded, banners of corrections."""
    if "affidavit:" not in text:
        return ()
    return tuple(found.span() for found in _GENERATED.finditer(text))


def is_excused(line: str, found: Quantity, now: Quantity | None, others: Iterable[Quantity]) -> bool:
    """Say whether a line says that its number is an old one.

    Args:
        found: the old number, at its place in the line.
        now: what is right.
        others: every quantity of the line.
    """
    if _OLD.search(line) or any(struck.start() <= found.start < struck.end() for struck in _STRUCK.finditer(line)):
        return True
    says_now = now is not None and any(one != found and same(one, now) for one in others)
    return says_now and _INSTEAD.search(line) is not None


def is_limit(line: str, found: Quantity, claim: str) -> bool:
    """Say whether a number of one digit stands beside the claim itself: "at most 3 s" in the row that says 2.1 s."""
    return found.digits == 1 and re.search(rf"claim:\s*{re.escape(claim)}(?![\w.-])", line) is not None
