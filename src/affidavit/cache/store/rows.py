"""What a dataset holds, as a digest: of its rows, never of its name, its file or its fingerprint.

Rows that lie in files are hashed once as long as the files stay what they were, in any process; what moved is told by
the time of status change, too, which no program sets.

Source: hf-stack-spike §5: an Arrow file swapped under its ``state.json`` had the same fingerprint and was served.
Blind to: a file that somebody else wrote into while it lay mapped in this process, and that had been hashed before.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from affidavit.cache.key.value import digest_of_table
from affidavit.cache.preimage import Part, canonical, digest_of
from affidavit.cache.store import SEEN
from affidavit.cache.store.place import Place

_REPLAYED = frozenset((
    "cast", "combine_chunks", "drop", "flatten", "remove_column", "rename_columns", "replace_schema_metadata",
    "select", "slice",
))  # fmt: skip
"""What a memory-mapped table does again when it is loaded anew, and what says all that it does in its arguments."""
_SLACK_SECONDS = 2.0


def part_of(dataset: Any, place: Place) -> Part:
    """Return the part of a key that a ``datasets.Dataset`` is: its rows in their order, its columns and its format."""
    order = digest_of_table(dataset._indices.table) if dataset._indices is not None else ""
    form = {name: value for name, value in dataset.format.items() if name != "columns"}
    columns = [dataset.format["columns"], str(dataset.features)]
    said = [_content(dataset.data, place), order, str(form), columns]
    shown = f"{len(dataset):,} rows of {', '.join(dataset.column_names)}"
    return Part("data", "rows", digest_of(canonical(said)), shown[:200])


def _content(table: Any, place: Place) -> str:
    identity = _identity(table)
    if identity is None or identity[1] > _began() - _SLACK_SECONDS:
        return digest_of_table(table.table)
    name = f"{SEEN}/{digest_of(canonical([identity[0], str(table.schema.remove_metadata())]))[7:]}"
    known = place.read(name)
    if known and len(known) == 71:
        return known.decode()
    digest = digest_of_table(table.table)
    with suppress(OSError):  # a store that may only be read remembers nothing
        place.put(name, digest.encode())
    return digest


def _identity(table: Any) -> tuple[list[Any], float] | None:
    """Return which files a table is made of and how, and when the last of them changed; None where it is not."""
    blocks = getattr(table, "blocks", None)
    if blocks is not None:
        rows = [[_identity(block) for block in tables] for tables in blocks]
        found = [one for tables in rows for one in tables]
        if not found or any(one is None for one in found):
            return None
        return [[one[0] for one in tables if one] for tables in rows], max(one[1] for one in found if one)
    replays = getattr(table, "replays", None)
    if replays is None or any(name not in _REPLAYED for name, _, _ in replays):
        return None
    path = os.path.realpath(table.path)
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    state = [path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    return [state, [[name, repr(arguments), repr(keywords)] for name, arguments, keywords in replays]], stat.st_ctime


def _began() -> float:
    """Return when this process began: a file that changed later may not be the one that it has mapped."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
    return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")
