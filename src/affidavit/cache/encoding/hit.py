"""A hit of our own cache, as a moment: rows of an entry, and what the function makes of the same rows now.

Source: :class:`affidavit.attach.moment.CacheHit`.
Blind to: nothing; what is compared, and when, is for whoever listens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affidavit.attach.moment import CacheHit
from affidavit.cache.encoding.work import Work
from affidavit.cache.store.entry import Entry

_SALIENT = 64


def moment_of(work: Work, entry: Entry, made: Any) -> CacheHit:
    """Return the moment of a hit; ``made`` is the dataset that was served."""
    rows = len(work.dataset)
    is_resized = any(shard.rows != shard.made_of for shard in entry.shards)
    features = made.features

    def batch(row: int) -> range:
        if not work.batched:
            return range(row, row + 1)
        begin = row // work.batch_size * work.batch_size
        return range(begin, min(begin + work.batch_size, rows))

    def stored(indices: Sequence[int]) -> Sequence[object]:
        found: list[object] = made.data.fast_gather(list(indices)).to_pylist() if len(indices) else []
        return found

    def recompute(indices: Sequence[int]) -> Sequence[object]:
        found: list[object] = []
        at = 0
        while at < len(indices):
            whole = batch(indices[at])
            again = work.table(whole.start, whole.stop, features).to_pylist()
            wanted = [row for row in indices[at : at + len(whole)] if row in whole]
            found += [again[row - whole.start] for row in wanted if row - whole.start < len(again)]
            at += len(wanted)
        return found

    def walked(indices: Sequence[int]) -> Sequence[object]:
        found: list[object] = []
        for begin in range(0, rows, work.batch_size):
            if len(found) > indices[-1]:
                break
            found += work.table(begin, min(begin + work.batch_size, rows), features).to_pylist()
        return [found[row] for row in indices if row < len(found)]

    return CacheHit(
        cache="affidavit.cache",
        entry=entry.key[7:19],
        function=work.function,
        rows=entry.rows,
        stored=stored,
        recompute=walked if is_resized else recompute,
        batch=(lambda row: range(row, row + 1)) if is_resized else batch,
        in_order=is_resized,
        salient=None if is_resized else lambda: masked_first(entry),
        written=entry.written,
        sources=tuple(file["filename"] for file in work.dataset.cache_files),
        built=built_with(entry),
    )


def built_with(entry: Entry) -> dict[str, object]:
    """Return what an entry says of itself, whatever this run asked for."""
    parts = {str(part): [part.digest, part.shown] for part in entry.preimage.parts}
    return {"key": entry.key, "parts": parts, "facts": entry.facts, "circumstances": entry.built}


def masked_first(entry: Entry) -> list[int]:
    """Return rows on which a policy fired when the entry was built."""
    masks = entry.facts.get("masks", {})
    found = {row for name in masks for row in masks[name].get("first", []) if name != "role"}
    return sorted(found)[:_SALIENT]
