"""``encode``: rows in, rows out, in the place of ``Dataset.map``, under a key that covers what the rows are made by.

On a hit the rows come from the entry and its own facts are told: what it was built with, never what was asked for now.
On a miss they are built shard by shard, and what they look like does not depend on how many processes there were, or
on whether somebody was killed in between. Where there is no key nothing is stored, and that is said.

Source: anchors-mechanisms C1; hf-stack-spike §5.
Blind to: what the key is blind to (:mod:`affidavit.cache.key`).
"""

from __future__ import annotations

import atexit
import copy
import errno
import functools
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from affidavit.cache.encoding import tell
from affidavit.cache.encoding.hit import moment_of
from affidavit.cache.encoding.keyed import key_of
from affidavit.cache.encoding.masks import Policy
from affidavit.cache.encoding.work import Work, summed
from affidavit.cache.key import KeyRefusedError
from affidavit.cache.preimage import Part, Preimage, digest_of
from affidavit.cache.store import Build, Store, StoreError
from affidavit.cache.store.entry import Entry
from affidavit.cache.store.workers import MOST_SHARDS, make_all
from affidavit.fact.errors import refusal

__all__ = ["encode"]

SHARD_ROWS = 50_000
"""So many rows at most are the work that is lost with a process; memory holds one batch of them."""
LEAST_SHARDS = 8
"""Of rows that are no more than batches: so that a few processes have work to the end."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def encode(
    dataset: Any,
    fn: Callable[..., Any],
    *,
    config: Any = None,
    tokenizer: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    covers: Mapping[str, Any] | None = None,
    irrelevant: Mapping[str, str] | None = None,
    masks: Sequence[Policy] | Policy | None = None,
    messages: str = "messages",
    store: Store | str | Path | None = None,
    batched: bool = True,
    batch_size: int = 1000,
    num_proc: int | None = None,
    remove_columns: str | Sequence[str] | None = None,
    features: Any = None,
    fn_kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Return the dataset that ``dataset.map(fn, …)`` gives, memory-mapped from an entry whose key covers its meaning.

    Args:
        fn: gets a batch as a dict of columns (a row, where not ``batched``) and returns columns.
        config: counts, field by field; it is not handed to ``fn``.
        tokenizer: counts in parts; masks need it.
        artifacts: files and folders that count by their content.
        covers: more that the rows depend on, by name: plain values, and paths by their content.
        irrelevant: name of a part of the key → why it cannot move the rows.
        masks: policies that put ``-100`` into the labels; each counts by its content.
        messages: the column of chats that they look at.
        store: a store or its folder; the project's own by default.
        num_proc: processes that build; the rows are the same with any number.

    Raises:
        StoreError: the rows could not be written; nothing half is left, and finished shards are kept.
    """
    if not len(dataset):
        return dataset
    masks = () if masks is None else tuple(masks) if isinstance(masks, Sequence) else (masks,)
    work = Work(
        dataset=dataset,
        function=functools.partial(fn, **fn_kwargs) if fn_kwargs else fn,
        batched=batched,
        batch_size=batch_size if batch_size and batch_size > 0 else len(dataset),
        removed=frozenset((remove_columns,) if isinstance(remove_columns, str) else remove_columns or ()),
        features=features,
        masks=masks,
        tokenizer=tokenizer,
        messages=messages,
    )
    kept = store if isinstance(store, Store) else Store(store)
    processes = num_proc or 1
    try:
        preimage = key_of(work, kept, config=config, artifacts=artifacts, covers=covers, irrelevant=irrelevant or {})
    except KeyRefusedError as error:
        tell.warn(f"{_name(fn)} is not cached. {error}")
        return _served(work, _build(work, _scratch(), _random(), processes))
    entry, aside = kept.whole(preimage.digest)
    if aside:
        tell.warn(f"{_name(fn)}: a stored shard is damaged, set aside as {', '.join(aside)}, and is built again.")
    if entry is None:
        return _served(work, _build(work, kept, preimage, processes))
    try:
        made = _served(work, entry)
    except FileNotFoundError:  # somebody else found it damaged a moment ago
        return _served(work, _build(work, kept, preimage, processes))
    tell.fire(moment_of(work, entry, made))
    return made


def _build(work: Work, store: Store, preimage: Preimage, processes: int) -> Entry:
    try:
        with store.building(preimage) as build:
            found, _ = store.whole(preimage.digest) if store.place.has(build.entry) else (None, ())
            return found or _made(work, build, processes)
    except OSError as error:
        if error.errno not in _NO_ROOM or error in work.raised:
            raise
        raise StoreError(
            refusal(
                subject=f"store {store.place.root}",
                expected="room for one more shard",
                saw=os.strerror(error.errno),
                means="No entry was made. Finished shards are kept, and the next run goes on from there.",
                action="Make room, or name another store.",
                unaffected="other entries",
            )
        ) from error


def _made(work: Work, build: Build, processes: int) -> Entry:
    rows = len(work.dataset)
    least = max(min(SHARD_ROWS, -(-rows // LEAST_SHARDS)), -(-rows // MOST_SHARDS))
    step = work.batch_size * -(-least // work.batch_size)
    plan = build.planned(
        lambda: {"rows": rows, "step": step, "features": _columns(work, many=rows > step)}, ("rows", "step", "features")
    )
    features, step = _features(plan["features"]), plan["step"]
    begins = range(0, rows, step)

    def make(number: int, alive: Callable[[], None]) -> None:
        begin = begins[number]
        stop = min(begin + step, rows)
        with build.shard(number, made_of=stop - begin) as draft:
            written = work.write(draft.path, begin, stop, features, alive)
            draft.rows, draft.facts = written.rows, written.facts

    ready = build.finished()
    make_all([at for at in range(len(begins)) if at not in ready], make, processes=processes, lock=build.lock)
    ready |= build.finished(check=False)
    make_all([at for at in range(len(begins)) if at not in ready], make, processes=1, lock=build.lock)
    ready |= build.finished(check=False)
    shards = tuple(ready[at] for at in range(len(begins)))
    facts = {"rows": sum(shard.rows for shard in shards), "made of": rows, **summed(shard.facts for shard in shards)}
    for part in build.preimage.of_kind("mask"):
        facts.setdefault("masks", {}).setdefault(part.name, {})["digest"] = part.digest
    return build.publish(shards, form="rows", facts=facts)


def _columns(work: Work, *, many: bool) -> Any:
    """Return the columns of all shards where there are many; the first batch decides, as it does for map."""
    found = work.features if work.features is not None else work.features_of_first() if many else None
    return json.dumps(found.to_dict()) if found is not None else None  # a text: the order of columns is theirs


def _features(said: Any) -> Any:
    from datasets import Features

    return Features.from_dict(json.loads(said)) if said is not None else None


def _served(work: Work, entry: Entry) -> Any:
    """Return an entry's rows as a dataset that is mapped from its files, with the format that the input has."""
    from datasets import Dataset, Features
    from datasets.table import MemoryMappedTable, concat_tables

    tables = [MemoryMappedTable.from_file(str(path)) for path in entry.files]
    table = tables[0] if len(tables) == 1 else concat_tables([one for one in tables if one.num_rows] or tables[:1])
    info = copy.copy(work.dataset.info)
    info.features = Features.from_arrow_schema(table.schema)
    made = Dataset(table, info=info, split=work.dataset.split, fingerprint=entry.key[7:23])
    form = work.dataset.format
    if form["type"] is not None or form["columns"] != work.dataset.column_names:
        hidden = set(work.dataset.column_names) - set(form["columns"])
        columns = [name for name in made.column_names if name not in hidden]
        made.set_format(type=form["type"], columns=columns, **form["format_kwargs"])
    return made


def _scratch() -> Store:
    """Return a store that ends with this process."""
    folder, owner = tempfile.mkdtemp(prefix="affidavit-uncached-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Store(folder, check="never")


def _random() -> Preimage:
    return Preimage((Part("no key", "random", digest_of(secrets.token_bytes(32)), "no key"),))


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__name__)
