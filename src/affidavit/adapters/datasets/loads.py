"""``load_dataset`` of local files that was served from a cache: the files are read again and held against it.

The cache's name is made of the files' paths, times and sizes, so a file that was rewritten in the same second, or with
its time kept, is served as it was.

Source: datasets 5.2 and 4.4 builder (``download_and_prepare``: returns early where ``dataset_info.json`` is there).
Blind to: files of a hub or a URL, whose names hold their content; folders of images or audio, which are never opened
here; a row beyond the end of what the time allows, in files that are read in order.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from affidavit.attach.moment import CacheHit
from affidavit.attach.session import Session

_INFO = "dataset_info.json"
_KINDS = frozenset(("json", "csv", "text", "parquet", "arrow", "pandas", "generator"))
"""Builders whose rows are made of local files or of the script's own generator, and of nothing else."""


def bind(module: ModuleType, session: Session) -> None:
    kind = module.DatasetBuilder

    @session.shielded
    def tell(builder: Any, before: tuple[int, int] | None) -> None:
        if before is None or _mark(getattr(builder, "_output_dir", "")) != before:
            return
        for hit in _hits(builder):
            session.fire(hit)

    call = kind.__dict__["download_and_prepare"]

    @functools.wraps(call)
    def download_and_prepare(self: Any, output_dir: Any = None, *args: Any, **kwargs: Any) -> None:
        before = _mark(output_dir if output_dir is not None else getattr(self, "_cache_dir", ""))
        call(self, output_dir, *args, **kwargs)
        tell(self, before)

    kind.download_and_prepare = download_and_prepare


def _mark(folder: object) -> tuple[int, int] | None:
    """Return what tells one entry from the next that takes its place."""
    try:
        found = os.stat(os.path.join(str(folder), _INFO))  # noqa: PTH116, PTH118
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns


def _hits(builder: Any) -> Iterator[CacheHit]:
    if type(builder).__name__.lower() not in _KINDS or not type(builder).__module__.startswith("datasets."):
        return
    files = builder.config.data_files or {}
    if not all(os.path.isfile(str(file)) for split in files.values() for file in split):  # noqa: PTH113
        return
    folder = str(builder._output_dir)
    for name, split in (builder.info.splits or {}).items():
        rows = _Source(builder, str(name), split.num_examples)
        sources = tuple(sorted({os.path.basename(str(file)) for file in files.get(name, ())}))  # noqa: PTH119
        generator = getattr(builder.config, "generator", None)
        yield CacheHit(
            cache="datasets.load_dataset",
            entry=os.path.basename(folder),  # noqa: PTH119
            function=generator if generator is not None else f'load_dataset("{type(builder).__name__.lower()}") {name}',
            rows=split.num_examples,
            stored=rows.stored,
            recompute=rows.recompute,
            in_order=True,
            scan=rows.scan,
            written=os.stat(os.path.join(folder, _INFO)).st_mtime,  # noqa: PTH116, PTH118
            sources=sources,
        )


class _Source:
    """The rows of one split, as they were stored and as the files give them now. Used in a child only."""

    def __init__(self, builder: Any, split: str, count: int) -> None:
        self._builder, self._split, self._count = builder, split, count
        self._kept: Any = None

    def stored(self, rows: Sequence[int]) -> list[Any]:
        own = [row for row in rows if row < self._count]
        found: list[Any] = self._served.data.fast_gather(own).to_pylist() if own else []
        return found

    def recompute(self, rows: Sequence[int]) -> list[Any]:
        found: list[Any] = []
        begin, wanted = 0, iter(rows)
        row = next(wanted, None)
        for table in self._tables():
            while row is not None and row < begin + table.num_rows:
                found += table.slice(row - begin, 1).to_pylist()
                row = next(wanted, None)
            if row is None:
                break
            begin += table.num_rows
        return found

    def scan(self) -> Iterator[tuple[int, Sequence[int]]]:
        begin = 0
        served = self._served.data.table
        for table in self._tables():
            stored = served.slice(begin, table.num_rows)
            if _equal(stored, table):
                yield table.num_rows, ()
            else:
                pairs = zip(stored.to_pylist(), table.to_pylist())
                unlike = [begin + place for place, (one, other) in enumerate(pairs) if one != other]
                unlike += range(begin + stored.num_rows, begin + table.num_rows)
                yield table.num_rows, unlike
            begin += table.num_rows
        if begin < self._count:
            yield self._count - begin, range(begin, self._count)

    @property
    def _served(self) -> Any:
        if self._kept is None:
            self._kept = self._builder.as_dataset(split=self._split)
        return self._kept

    def _tables(self) -> Iterator[Any]:
        """Read the files again, as the builder does where it has no cache."""
        from datasets.table import table_cast

        builder, served = self._builder, self._served
        schema = served.features.arrow_schema
        splits = builder._split_generators(builder.dl_manager)
        (own,) = [split for split in splits if str(split.name) == self._split]
        if hasattr(builder, "_generate_tables"):
            for _, table in builder._generate_tables(**own.gen_kwargs):
                try:
                    yield table_cast(table, schema)
                except (ValueError, TypeError):  # it has other columns now
                    yield table
            return
        for _, row in builder._generate_examples(**own.gen_kwargs):
            yield type(served.data.table).from_pylist([served.features.encode_example(row)], schema=schema)


def _equal(stored: Any, table: Any) -> bool:
    return bool(stored.num_rows == table.num_rows and stored.equals(table))
