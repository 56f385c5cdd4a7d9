"""The unit of a number that stands alone: ``LIMIT = 2.4  # min, claim: …``, or ``limit_ms: 145500``.

A number that is mended in another unit than the one that is said beside it is worse than one that is wrong.

Blind to: units in the text of an option's help; names in which the unit does not stand last.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.claims.quantity.tail import Tail, unit_of

_ALONE: Final = re.compile(r"[\s#(\[]*(?:in\s+|unit:\s*)?(?P<unit>%|[^\W\d_][\w/ %-]{0,30}?)[\s,;:.(\[]*\Z")
_NAME: Final = re.compile(
    r"(?<![\w-])-{0,2}(?P<name>[A-Za-z][\w-]{0,100})[\"']?\s{0,9}(?::\s{0,9}[\w.\[\]]{1,60}\s{0,9}(?==))?(?:[:=]|(?<=\s))\s{0,9}\Z"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME_MOST: Final = 200
_WORDS_MOST: Final = 3
_SELF_EVIDENT: Final = 5
"""A name that is nothing but a unit is one from so many letters on: min is the least of something."""
_SHORT: Final = {"pct": "percent"}


def unit_in_comment(comment: str) -> Tail | None:
    """Return the unit that a comment says before an id, and nothing else."""
    found = _ALONE.match(comment)
    return None if found is None else unit_of(found["unit"])


def unit_in_name(before: str) -> Tail | None:
    """Return the unit at the end of the name that a number is given to, as text before it ends."""
    found = _NAME.search(before[-_NAME_MOST:])
    if found is None:
        return None
    parts = re.split(r"[_-]+", _HUMP.sub("_", found["name"]).strip("_-").lower())
    for count in range(min(_WORDS_MOST, len(parts)), 0, -1):
        words = [_SHORT.get(part, part) for part in parts[-count:]]
        if count < len(parts) or len("".join(words)) >= _SELF_EVIDENT:
            unit = unit_of(" ".join(words))
            if unit is not None:
                return unit
    return None
