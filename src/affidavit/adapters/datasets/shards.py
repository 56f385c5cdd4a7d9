"""The rows of cache files that ``map`` loaded: as they were stored, and as the function makes them now.

Recomputing goes through datasets' own ``_map_single``, so that formats, columns and types are handled as they were. It
belongs in a child: it calls the run's own function.

Blind to: images and sounds that a format decodes, which are compared as they are stored.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.cache.canary.columns import among, standing_out

_SALIENT_ROWS = 48


@dataclass(frozen=True)
class Shard:
    """One cache file that ``map`` loaded: what it would have been made of, and the dataset that was served."""

    keywords: Mapping[str, Any]
    served: Any


class Mapped:
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


class Resized(Mapped):
    """A shard whose batches came out longer or shorter: only the first ones can be found again."""

    in_order = True

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        made: list[Any] = []
        size, begin = _batch_size(self.keywords, self.shard), 0
        while begin < len(self.shard) and len(made) <= rows[-1]:
            made += self._called(self.keywords["function"], range(begin, min(begin + size, len(self.shard))))
            begin += size
        return [made[row] for row in rows if row < len(made)]


class Filtered(Mapped):
    """A shard of a filter: what is stored are the numbers of the rows that it kept."""

    def __init__(self, kind: Any, shard: Shard) -> None:
        super().__init__(kind, shard)
        self.count = len(self.shard)

    def batch(self, row: int) -> range:
        return super().batch(row) if self.keywords["function"].args[1] else range(row, row + 1)

    def stored(self, rows: Sequence[int]) -> list[Any]:
        mapping = self.keywords["function"].args[5]
        numbers = [self.offset + row for row in rows]
        if mapping is not None:
            numbers = mapping.column(0).to_numpy()[numbers].tolist()
        return [{"kept": kept} for kept in among(numbers, self.served.data.table.column("indices"))]

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        filtering = self.keywords["function"]
        # Without the numbers that the rows have in the file: the places are compared, and they are the same.
        arguments = (*filtering.args[:5], None, *filtering.args[6:])
        kept = self._called(functools.partial(filtering.func, *arguments, **filtering.keywords), rows)
        places = {one["indices"] for one in kept}
        return [{"kept": self.offset + row in places} for row in rows]


def mapped_rows(kind: Any, shard: Shard) -> Mapped:
    keywords, rows = shard.keywords, len(shard.keywords["shard"])
    if keywords["batched"]:
        size = _batch_size(keywords, keywords["shard"])
        expected = rows // size * size if keywords["drop_last_batch"] else rows
        if len(shard.served) != expected:
            return Resized(kind, shard)
    return Mapped(kind, shard)


class Joined:
    """The shards of one call as one row of rows."""

    def __init__(self, parts: Sequence[Mapped]) -> None:
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
        most = _SALIENT_ROWS // len(self._parts) or 1
        pairs = zip(self._parts, self._begins)
        return [begin + row for part, begin in pairs for row in standing_out(part.served.data.table, most)]

    def _place(self, row: int) -> int:
        return max(place for place, begin in enumerate(self._begins) if begin <= row and self._parts[place].count)

    def _split(self, rows: Sequence[int]) -> Iterator[tuple[Mapped, list[int]]]:
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
