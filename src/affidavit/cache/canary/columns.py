"""Columns of an Arrow table: which rows stand out in one, and which numbers are in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LABELS = ("labels", "loss_mask", "completion_mask", "assistant_masks", "assistant_mask")
_IGNORED = -100
_VALUES_MOST = 20_000_000
"""More labels than this are not counted to find the rows that stand out; the first ones are."""


def among(numbers: Sequence[int], column: Any) -> list[bool]:
    """Say of each number whether a column holds it."""
    import numpy

    kept = column.to_numpy().astype("int64")
    return [bool(one) for one in numpy.isin(numpy.asarray(numbers, dtype="int64"), kept)]


def standing_out(table: Any, most: int) -> list[int]:
    """Return rows whose labels are masked unlike the others', the longest and the shortest, each kind by turns."""
    import numpy
    import pyarrow.compute

    name = next((name for name in (*_LABELS, "input_ids", *table.column_names) if _is_list(table, name)), None)
    if name is None or not table.num_rows:
        return []
    column = table.column(name)
    lengths: Any = pyarrow.compute.fill_null(pyarrow.compute.list_value_length(column), 0).to_numpy()
    kinds = [numpy.argsort(-lengths, kind="stable")[:most], numpy.argsort(lengths, kind="stable")[:most]]
    if name in _LABELS:
        rows = int(numpy.searchsorted(numpy.cumsum(lengths), _VALUES_MOST, side="right"))
        values = pyarrow.compute.list_flatten(column.slice(0, rows)).to_numpy()
        ends = numpy.cumsum(lengths[:rows])
        lit = numpy.concatenate([[0], numpy.cumsum((values != _IGNORED) & (values != 0 if name != "labels" else True))])
        share = (lit[ends] - lit[ends - lengths[:rows]]) / numpy.maximum(lengths[:rows], 1)
        kinds.insert(0, numpy.argsort(-numpy.abs(share - numpy.median(share)), kind="stable")[:most])
    turns = [int(row) for together in zip(*kinds) for row in together]
    return list(dict.fromkeys(turns))[:most]


def _is_list(table: Any, name: str) -> bool:
    import pyarrow

    if name not in table.column_names:
        return False
    kind = table.schema.field(name).type
    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
    return bool(is_list and (pyarrow.types.is_integer(kind.value_type) or pyarrow.types.is_boolean(kind.value_type)))
