"""An audit finds what is stale, says no more than its sample proves, and tells a function that cannot be audited."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import pytest

from affidavit.cache.probe.audit import Audit, audit, limit
from affidavit.cache.probe.bench import Bench

RAW = [{"text": f"row {number}"} for number in range(1000)]
NUMBERS = count()


def _encode(row: dict[str, Any]) -> dict[str, Any]:
    return {"length": len(row["text"]), "share": 1 / 3}


def _counting(row: dict[str, Any]) -> dict[str, Any]:
    return {"length": next(NUMBERS)}


def _rows(stale: int = 0) -> list[dict[str, Any]]:
    stored = [{**row, **_encode(row)} for row in RAW]
    for number in range(stale):
        stored[number * 7] = {**stored[number * 7], "length": -1}
    return stored


def test_an_entry_of_this_function_differs_nowhere_and_the_bound_is_said() -> None:
    found = audit(Bench(_encode), _rows(), RAW, rows=100, seed=3)
    assert (found.outcome, found.examined, found.different) == ("same", 100, 0)
    assert found.says == "0 of 100 rows differ: with 95 % confidence fewer than 2.9 % of rows are stale"


def test_every_row_is_a_proof_without_a_doubt() -> None:
    found = audit(Bench(_encode), _rows(), RAW, rows=5000)
    assert found.says == "0 of 1,000 rows differ: every row was recomputed"


def test_stale_rows_are_found_with_their_field() -> None:
    found = audit(Bench(_encode), _rows(stale=100), RAW, rows=300, seed=1)
    assert (found.outcome, found.fields) == ("different", ("length",))
    assert all(row % 7 == 0 for row in found.first)
    assert 300 * 0.06 < found.different < 300 * 0.14
    assert found.limit <= 100


def test_the_same_seed_draws_the_same_rows() -> None:
    one, other, third = (audit(Bench(_encode), _rows(stale=100), RAW, rows=99, seed=seed) for seed in (1, 1, 2))
    assert one == other and one.first != third.first


def test_a_function_that_counts_is_not_called_stale() -> None:
    assert audit(Bench(_counting), [{"length": -1}] * 10, RAW[:10]).outcome == "not deterministic"


def test_a_function_that_writes_is_not_called_again_and_nothing_is_claimed() -> None:
    def writing(row: dict[str, Any]) -> int:
        with open("made.txt", "w"):  # noqa: PTH123
            return 1

    found = audit(Bench(writing), [1] * 10, RAW[:10])
    assert (found.outcome, found.examined) == ("refused", 0) and found.says == "no row was recomputed"


def test_rows_of_columns_are_compared_one_by_one() -> None:
    def columns(batch: dict[str, Any]) -> dict[str, Any]:
        return {"length": [len(text) for text in batch["text"]]}

    assert audit(Bench(columns, batched=True), _rows(stale=1), RAW).first == (0,)


@pytest.mark.parametrize(("rows", "examined"), [(500_000, 3000), (10_000, 3000), (1000, 100), (40, 20), (3, 2)])
def test_the_bound_is_that_of_the_hypergeometric_distribution(rows: int, examined: int) -> None:
    """Of so many stale rows a sample of none is rarer than one in twenty; of one fewer it is not."""

    def chance(stale: int) -> float:
        return math.comb(rows - stale, examined) / math.comb(rows, examined)

    found = limit(rows, examined, 0)
    assert (chance(found) if found <= rows - examined else 0.0) <= 0.05 < chance(found - 1)


@pytest.mark.parametrize(("rows", "examined", "different"), [(1000, 100, 3), (40, 20, 20), (500, 499, 1)])
def test_where_rows_differ_the_least_number_of_stale_ones_is_said(rows: int, examined: int, different: int) -> None:
    def at_least(stale: int) -> float:
        whole = math.comb(rows, examined)
        found = (
            math.comb(stale, found) * math.comb(rows - stale, examined - found)
            for found in range(different, min(stale, examined) + 1)
        )
        return sum(found) / whole

    found = limit(rows, examined, different)
    assert found >= different and at_least(found) > 0.05
    assert found == different or at_least(found - 1) <= 0.05


@pytest.mark.parametrize(
    ("rows", "examined", "says"),
    [
        (500_000, 3000, "0 of 3,000 rows differ: with 95 % confidence fewer than 0.1 % of rows are stale"),
        (500_000, 300_000, "0 of 300,000 rows differ: with 95 % confidence fewer than 0.0008 % of rows are stale"),
        (100, 1, "0 of 1 rows differ: with 95 % confidence fewer than 95 % of rows are stale"),
    ],
)
def test_the_bound_is_never_said_better_than_it_is(rows: int, examined: int, says: str) -> None:
    assert Audit("same", rows, examined, limit=limit(rows, examined, 0)).says == says
