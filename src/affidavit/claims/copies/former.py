"""What was told of a claim: a value, and the words by which a text is known to be about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from affidavit.claims.copies.words import stems
from affidavit.claims.quantity import Quantity, quantity_of
from affidavit.record.measurement import Measurement, Measurements

_MOST_WORDS: Final = 40


@dataclass(frozen=True, kw_only=True)
class Told:
    """A value of a claim.

    Args:
        claim: its id.
        value: what was said of it.
        now: what is to be said instead, None where nothing is.
        own: the id's words, by their stems.
        around: other words that stand by it: its seat, its note, the code it covers, the text at its anchors.
    """

    claim: str
    value: Quantity
    now: Quantity | None
    own: Mapping[str, str]
    around: Mapping[str, str]


def formers(measurements: Measurements, texts: Mapping[str, Iterable[str]] | None = None) -> tuple[Told, ...]:
    """Return every value that stands no longer; one that is measured again as it was before is not among them.

    Args:
        texts: of a claim's name, what is written at its anchors, or is its title.
    Blind to: values whose unit is not of the closed set.
    """
    found: dict[tuple[str, object, str], Told] = {}
    for one in measurements.former:
        value = quantity_of(one.value, one.unit)
        now = _now(measurements, one.name)
        if value is None or (now is not None and now.dimension == value.dimension and now.exact == value.exact):
            continue
        found.setdefault((one.name, value.exact, value.dimension), _told(one, value, now, texts))
    return tuple(found.values())


def standing(measurements: Measurements, texts: Mapping[str, Iterable[str]] | None = None) -> tuple[Told, ...]:
    """Return what is to be said of every claim that stands."""
    found: list[Told] = []
    for name in measurements.names:
        last = measurements.last(name)
        value = quantity_of(last.value, last.unit) if last is not None else None
        if last is not None and value is not None and measurements.superseded(name) is None:
            found.append(_told(last, value, value, texts))
    return tuple(found)


def _now(measurements: Measurements, name: str) -> Quantity | None:
    """Return the value that took the place of a claim's: its own newer one, or that of its successor."""
    seen: set[str] = set()
    taken_back = measurements.superseded(name)
    while taken_back is not None and name not in seen:
        seen.add(name)
        name = taken_back.by
        taken_back = measurements.superseded(name)
    last = measurements.last(name) if taken_back is None else None
    return None if last is None else quantity_of(last.value, last.unit)


def _told(one: Measurement, value: Quantity, now: Quantity | None, texts: Mapping[str, Iterable[str]] | None) -> Told:
    own = stems(one.name)
    code = (f"{PurePath(target).stem} {target.rpartition(':')[2]}" for target in one.code)
    around: dict[str, str] = {}
    for text in (*(texts or {}).get(one.name, ()), one.seat, one.note, *code):
        around |= {stem: word for stem, word in stems(text).items() if stem not in own and len(around) < _MOST_WORDS}
    return Told(claim=one.name, value=value, now=now, own=own, around=around)
