"""Holds stored rows against recomputed ones: which differ, and in which field.

Floats that agree to six digits are the same: a child with one thread adds up in another order than the run did.
Blind to: values of kinds that have no plain form, which are compared by their type alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CONFIDENCE = 0.95
_CLOSE = 1e-6
_ROW = "(row)"
"""The field of what has no fields."""
MISSING = object()
"""A row that is not there on one side."""


@dataclass(frozen=True)
class Unlike:
    """One row that differs, and the fields in which it does."""

    row: int
    fields: tuple[str, ...]


def differences(at: Sequence[int], stored: Sequence[object], again: Sequence[object]) -> tuple[Unlike, ...]:
    """Return the rows of ``at`` that are not what they were; a row that only one side has differs as a whole."""
    found = []
    for place, row in enumerate(at):
        one = stored[place] if place < len(stored) else MISSING
        other = again[place] if place < len(again) else MISSING
        fields = differing(one, other)
        if fields:
            found.append(Unlike(row, fields))
    return tuple(found)


def differing(one: object, other: object) -> tuple[str, ...]:
    """Return the fields in which two rows differ, ``(row)`` where a row has none; nothing where they are the same."""
    if one is MISSING or other is MISSING:
        return () if one is other else (_ROW,)
    one, other = plain(one), plain(other)
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted({*one, *other}, key=str)
        return tuple(str(name) for name in names if not _same(one.get(name), other.get(name)))
    return () if _same(one, other) else (_ROW,)


def is_reordered(one: object, other: object) -> bool:
    """Say whether two rows differ in nothing but the order of lists of texts."""
    left, right = (row if isinstance(row, dict) else {_ROW: row} for row in (plain(one), plain(other)))
    fields = [name for name in {*left, *right} if not _same(left.get(name), right.get(name))]
    return all(
        _are_texts(left.get(name)) and _are_texts(right.get(name)) and sorted(left[name]) == sorted(right[name])
        for name in fields
    )


def plain(value: object) -> Any:
    """Return a value as numbers, texts, lists and dicts; what has its own ``tolist`` (arrays, tensors) gives that."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "sha256:" + hashlib.sha256(value).hexdigest()
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return plain(tolist())
    shown = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if " at 0x" in shown else shown


def fingerprint(row: object) -> str:
    """Return a digest of a row that is the same where :func:`differing` finds nothing, but for rounding at an edge."""
    form = json.dumps(_rounded(plain(row)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def bound(examined: int, rows: int) -> float:
    """Return the share of rows that may differ at most, with 95 % confidence, where none of ``examined`` does.

    Source: 1 - 0.05^(1/n), the exact bound of a binomial that no draw hit; 0 where every row was examined.
    """
    if not examined:
        return 1.0
    return 0.0 if examined >= rows else 1.0 - (1.0 - CONFIDENCE) ** (1.0 / examined)


def spread(rows: int, count: int, offset: float = 0.0) -> Iterable[int]:
    """Yield up to ``count`` of ``rows`` so that whatever was yielded so far lies evenly over all of them.

    ``offset``, a fraction, moves them all: two runs need not look at the same ones. No random state is used.
    """
    seen: set[int] = set()
    place = offset % 1.0
    for _ in range(4 * count):
        if len(seen) >= min(count, rows):
            return
        row = min(int(place * rows), rows - 1)
        place = (place + 0.6180339887498949) % 1.0
        if row not in seen:
            seen.add(row)
            yield row
    yield from (row for row in range(rows) if row not in seen and len(seen) < min(count, rows) and not seen.add(row))  # type: ignore[func-returns-value]


def _same(one: Any, other: Any) -> bool:
    if one is other or (type(one) is type(other) and one == other):
        return True
    if float in (type(one), type(other)) and {type(one), type(other)} <= {float, int}:
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(item, other[name]) for name, item in one.items())
    return type(one) is type(other) and one == other


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return format(value, ".4g")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return value
