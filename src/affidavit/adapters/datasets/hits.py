"""``Dataset.map`` and ``filter`` that were served from a cache file, so that the function was never called.

Where a shard's file exists, ``map`` loads it in one function of its own; whoever calls ``Dataset.from_file`` from there
has a hit, and holds everything that the function would have been called with.

Source: datasets 5.2 and 4.4 arrow_dataset (``map``: ``load_processed_shard_from_cache``; ``filter``: a map whose
function is ``get_indices_from_mask_function``; ``_map_single``).
Blind to: sort, shuffle and splits, whose caches hold no function of the script's; a map that returns nothing.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from types import ModuleType
from typing import Any

from affidavit.adapters.datasets.shards import Filtered, Joined, Shard, mapped_rows
from affidavit.attach.moment import CacheHit
from affidavit.attach.session import Session

_LOADER = "load_processed_shard_from_cache"
_FILTER = "get_indices_from_mask_function"

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
    parts = [Filtered(kind, shard) if is_filter else mapped_rows(kind, shard) for shard in shards]
    rows, entry = Joined(parts), str(first["cache_file_name"])
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


def _written(entry: str) -> float:
    try:
        return os.stat(entry).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0
