"""The rows that stand out in a column are found without reading them one by one."""

from __future__ import annotations

import pyarrow

from affidavit.cache.canary.columns import among, standing_out


def test_a_row_that_is_masked_otherwise_the_longest_and_the_shortest() -> None:
    labels = [[-100, -100, 5, 6, 7] for _ in range(500)]
    labels[123] = [-100] * 5
    labels[321] = [5] * 5
    labels[77] = [-100, -100, *range(13)]
    labels[400] = []
    table = pyarrow.table({"text": ["x"] * 500, "labels": labels})
    found = standing_out(table, 12)
    assert {123, 321, 77, 400} <= set(found) and len(found) == 12


def test_texts_and_an_empty_table_have_none() -> None:
    assert standing_out(pyarrow.table({"text": ["a", "b"]}), 8) == []
    assert standing_out(pyarrow.table({"labels": pyarrow.array([], pyarrow.list_(pyarrow.int64()))}), 8) == []


def test_rows_of_nothing_count_as_empty() -> None:
    table = pyarrow.table({"input_ids": pyarrow.chunked_array([[[1, 2], None], [[3], [4, 5, 6]]])})
    assert standing_out(table, 4)[:2] == [3, 1]


def test_numbers_are_looked_up_in_a_column() -> None:
    column = pyarrow.chunked_array([pyarrow.array([1, 5], pyarrow.uint64()), pyarrow.array([9], pyarrow.uint64())])
    assert among([5, 6, 9], column) == [True, False, True]
