"""``Dataset.map`` and ``filter`` that were served from a cache file, so that the function was never called.

Where a shard's file exists, ``map`` loads it in one function of its own; whoever calls ``Dataset.from_file`` from there
has a hit, and holds everything that the function would have been called with.

Source: datasets 5.2 and 4.4 arrow_dataset (``map``: ``load_processed_shard_from_cache``; ``filter``: a map whose
function is ``get_indices_from_mask_function``; ``_map_single``).
Blind to: sort, shuffle and splits, whose caches hold no function of the script's; a map that returns nothing.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from affidavit.attach.moment import CacheHit
from affidavit.attach.session import Session

_LOADER = "load_processed_shard_from_cache"
_FILTER = "get_indices_from_mask_function"
_LABELS = ("labels", "loss_mask", "completion_mask", "assistant_masks", "assistant_mask")
_IGNORED = -100
_SALIENT_ROWS = 48
_SALIENT_VALUES = 20_000_000
"""More labels than this are not counted to find the rows that stand out; the first ones are."""


@dataclass(frozen=True)
class Shard:
    """One cache file that ``map`` loaded: what it would have been made of, and the dataset that was served."""

    keywords: Mapping[str, Any]
    served: Any


_calls = threading.local()


def bind(module: ModuleType, session: Session) -> None:
    kind = module.Dataset

    @session.shielded
    def keep(frame: Any, served: Any) -> None:
        open_calls = getattr(_calls, "shards", None)
        if open_calls and frame.f_code.co_name == _LOADER:
            open_calls[-1].append(Shard(dict(frame.f_locals["shard_kwargs"]), served))

    @session.shielded
    def tell(shards: list[Shard]) -> None:
        session.fire(_hit(kind, shards))

    load = kind.__dict__["from_file"].__func__

    @functools.wraps(load)
    def from_file(cls: Any, *args: Any, **kwargs: Any) -> Any:
        served = load(cls, *args, **kwargs)
        keep(sys._getframe(1), served)
        return served

    call = kind.__dict__["map"]

    @functools.wraps(call)
    def mapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        shards: list[Shard] = []
        try:
            _calls.shards.append(shards)
        except AttributeError:
            _calls.shards = [shards]
        try:
            made = call(self, *args, **kwargs)
        finally:
            _calls.shards.pop()
        if shards:
            tell(shards)
        return made

    kind.from_file = classmethod(from_file)
    kind.map = mapped


def _hit(kind: Any, shards: list[Shard]) -> CacheHit:
    first = shards[0].keywords
    function = first["function"]
    is_filter = isinstance(function, functools.partial) and getattr(function.func, "__name__", "").endswith(_FILTER)
    parts = [_Filtered(kind, shard) if is_filter else _mapped(kind, shard) for shard in shards]
    rows, entry = _Joined(parts), str(first["cache_file_name"])
    return CacheHit(
        cache="datasets.filter" if is_filter else "datasets.map",
        entry=os.path.basename(entry),  # noqa: PTH119  it is a name, whatever the system
        function=function.args[0] if is_filter else function,
        rows=rows.count,
        stored=rows.stored,
        recompute=rows.recompute,
        batch=rows.batch,
        in_order=any(part.in_order for part in parts),
        salient=None if is_filter else rows.salient,
        written=_written(entry),
    )


class _Mapped:
    """A shard of which each row was made of one row, or each batch of one batch as long."""

    in_order = False

    def __init__(self, kind: Any, shard: Shard) -> None:
        self._kind = kind
        self.shard, self.served = shard.keywords["shard"], shard.served
        self.keywords = shard.keywords
        self.offset: int = shard.keywords.get("offset") or 0
        self.count: int = len(self.served)

    def batch(self, row: int) -> range:
        if not self.keywords["batched"]:
            return range(row, row + 1)
        size = _batch_size(self.keywords, self.shard)
        return range(row // size * size, min((row // size + 1) * size, len(self.shard)))

    def stored(self, rows: Sequence[int]) -> list[Any]:
        return _gathered(self.served, [row for row in rows if row < self.count])

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        return self._called(self.keywords["function"], rows)

    def _called(self, function: Any, rows: Sequence[int]) -> list[Any]:
        """Return what map makes of some rows, in memory; the function is told the numbers that they had."""
        if self.keywords["with_indices"]:
            columns = self.keywords["input_columns"]
            place = 1 if columns is None else len(columns)
            function = _renumbered(function, place, [self.offset + row for row in rows])
        ours = {"shard", "function", "offset", "cache_file_name", "keep_in_memory", "new_fingerprint"}
        keywords = {name: value for name, value in self.keywords.items() if name not in ours}
        made: Any = None
        for _, done, content in self._kind._map_single(
            shard=self.shard.select(rows), function=function, keep_in_memory=True, new_fingerprint="0" * 16, **keywords
        ):
            made = content if done else made
        answers: list[Any] = made.data.table.to_pylist()
        return answers


class _Resized(_Mapped):
    """A shard whose batches came out longer or shorter: only the first ones can be found again."""

    in_order = True

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        made: list[Any] = []
        size, begin = _batch_size(self.keywords, self.shard), 0
        while begin < len(self.shard) and len(made) <= rows[-1]:
            made += self._called(self.keywords["function"], range(begin, min(begin + size, len(self.shard))))
            begin += size
        return [made[row] for row in rows if row < len(made)]


class _Filtered(_Mapped):
    """A shard of a filter: what is stored are the numbers of the rows that it kept."""

    def __init__(self, kind: Any, shard: Shard) -> None:
        super().__init__(kind, shard)
        self.count = len(self.shard)

    def batch(self, row: int) -> range:
        return super().batch(row) if self.keywords["function"].args[1] else range(row, row + 1)

    def stored(self, rows: Sequence[int]) -> list[Any]:
        import numpy

        mapping = self.keywords["function"].args[5]
        wanted = numpy.asarray([self.offset + row for row in rows], dtype="int64")
        if mapping is not None:
            wanted = mapping.column(0).to_numpy()[wanted].astype("int64")
        kept = self.served.data.table.column("indices").to_numpy().astype("int64")
        return [{"kept": bool(one)} for one in numpy.isin(wanted, kept)]

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        filtering = self.keywords["function"]
        # Without the numbers that the rows have in the file: the places are compared, and they are the same.
        arguments = (*filtering.args[:5], None, *filtering.args[6:])
        kept = self._called(functools.partial(filtering.func, *arguments, **filtering.keywords), rows)
        places = {one["indices"] for one in kept}
        return [{"kept": self.offset + row in places} for row in rows]


def _mapped(kind: Any, shard: Shard) -> _Mapped:
    keywords, rows = shard.keywords, len(shard.keywords["shard"])
    if keywords["batched"]:
        size = _batch_size(keywords, keywords["shard"])
        expected = rows // size * size if keywords["drop_last_batch"] else rows
        if len(shard.served) != expected:
            return _Resized(kind, shard)
    return _Mapped(kind, shard)


class _Joined:
    """The shards of one call as one row of rows."""

    def __init__(self, parts: Sequence[_Mapped]) -> None:
        self._parts = parts
        self._begins = [sum(part.count for part in parts[:place]) for place in range(len(parts))]
        self.count = sum(part.count for part in parts)

    def batch(self, row: int) -> range:
        place = self._place(row)
        begin = self._begins[place]
        found = self._parts[place].batch(row - begin)
        return range(begin + found.start, begin + min(found.stop, self._parts[place].count))

    def stored(self, rows: Sequence[int]) -> list[Any]:
        return [row for part, own in self._split(rows) for row in part.stored(own)]

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        return [row for part, own in self._split(rows) for row in part.recompute(own)]

    def salient(self) -> list[int]:
        """Return rows that stand out in each shard: the masked share unlike the others', the longest, the shortest."""
        found: list[list[int]] = []
        for part, begin in zip(self._parts, self._begins):
            found.append([begin + row for row in _standing_out(part.served, _SALIENT_ROWS // len(self._parts) or 1)])
        return [row for rows in found for row in rows]

    def _place(self, row: int) -> int:
        return max(place for place, begin in enumerate(self._begins) if begin <= row and self._parts[place].count)

    def _split(self, rows: Sequence[int]) -> Iterator[tuple[_Mapped, list[int]]]:
        for place, (part, begin) in enumerate(zip(self._parts, self._begins)):
            own = [row - begin for row in rows if self._place(row) == place]
            if own:
                yield part, own


def _batch_size(keywords: Mapping[str, Any], shard: Any) -> int:
    size = keywords["batch_size"]
    return size if size and size > 0 else max(len(shard), 1)


def _renumbered(function: Callable[..., Any], place: int, numbers: Sequence[int]) -> Callable[..., Any]:
    """Return a function that hears the numbers its rows have in the whole dataset."""

    def told(arguments: tuple[Any, ...]) -> list[Any]:
        heard = list(arguments)
        heard[place] = [numbers[row] for row in heard[place]] if type(heard[place]) is list else numbers[heard[place]]
        return heard

    if inspect.iscoroutinefunction(function):

        async def waiting(*arguments: Any, **keywords: Any) -> Any:
            return await function(*told(arguments), **keywords)

        return waiting
    return lambda *arguments, **keywords: function(*told(arguments), **keywords)


def _gathered(served: Any, rows: Sequence[int]) -> list[Any]:
    found: list[Any] = served.data.fast_gather(list(rows)).to_pylist() if rows else []
    return found


def _written(entry: str) -> float:
    try:
        return os.stat(entry).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0


def _standing_out(served: Any, most: int) -> list[int]:
    """Return rows whose labels are masked unlike the others', the longest and the shortest, each kind by turns."""
    import numpy
    import pyarrow.compute

    table = served.data.table
    name = next((name for name in (*_LABELS, "input_ids", *table.column_names) if _is_list(table, name)), None)
    if name is None or not table.num_rows:
        return []
    column = table.column(name)
    lengths: Any = pyarrow.compute.fill_null(pyarrow.compute.list_value_length(column), 0).to_numpy()
    kinds = [numpy.argsort(-lengths, kind="stable")[:most], numpy.argsort(lengths, kind="stable")[:most]]
    if name in _LABELS:
        rows = int(numpy.searchsorted(numpy.cumsum(lengths), _SALIENT_VALUES, side="right"))
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
