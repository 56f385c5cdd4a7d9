"""Rows are held against one another field by field; a bound says what a sample can say, and a sample lies evenly."""

from __future__ import annotations

import math
from typing import Any

import pytest

from affidavit.cache.compare import bound, differences, differing, fingerprint, plain, spread


@pytest.mark.parametrize(
    ("one", "other", "fields"),
    [
        ({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 2]}, ()),
        ({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, -100]}, ("b",)),
        ({"a": 1}, {"a": 1, "b": 2}, ("b",)),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, ()),
        ({"a": math.nan}, {"a": math.nan}, ()),
        ({"a": 1}, {"a": True}, ("a",)),
        ({"a": 1}, {"a": 1.0}, ()),
        ({"a": None}, {"a": 0}, ("a",)),
        ([1, 2], [2, 1], ("(row)",)),
        ((1, 2), [1, 2], ()),
        (b"one", b"two", ("(row)",)),
        ({1, 2}, {2, 1}, ()),
    ],
)
def test_fields_that_differ_are_named(one: Any, other: Any, fields: tuple[str, ...]) -> None:
    assert differing(one, other) == fields
    assert (fingerprint(one) == fingerprint(other)) is (not fields) or (
        isinstance(plain(one), dict) and 1.0 in plain(other).values()
    )


def test_a_row_that_is_not_there_differs() -> None:
    found = differences([4, 5, 6], [{"a": 1}, {"a": 2}, {"a": 3}], [{"a": 1}, {"a": 0}])
    assert [(one.row, one.fields) for one in found] == [(5, ("a",)), (6, ("(row)",))]


def test_arrays_are_compared_by_what_is_in_them() -> None:
    import numpy

    assert differing({"a": numpy.arange(3)}, {"a": [0, 1, 2]}) == ()
    assert differing({"a": numpy.arange(3)}, {"a": numpy.array([0, 1, 3])}) == ("a",)


@pytest.mark.parametrize(("examined", "rows", "share"), [(0, 10, 1.0), (10, 10, 0.0), (3_000, 500_000, 0.000998)])
def test_the_bound_is_what_a_sample_can_say(examined: int, rows: int, share: float) -> None:
    assert bound(examined, rows) == pytest.approx(share, rel=1e-2)


@pytest.mark.parametrize("rows", [1, 2, 7, 100, 1_000, 500_000])
@pytest.mark.parametrize("offset", [0.0, 0.3, 0.999999])
def test_a_sample_lies_evenly_and_takes_no_row_twice(rows: int, offset: float) -> None:
    found = list(spread(rows, 500, offset))
    assert len(found) == len(set(found)) == min(rows, 500)
    assert set(found) <= set(range(rows))
    if rows > 1_000:
        tenths = [row * 10 // rows for row in found]
        assert {tenths.count(tenth) for tenth in range(10)} <= set(range(45, 56))
