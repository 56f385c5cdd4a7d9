"""A declared canary: rows of an entry that somebody's own cache holds, against what its build makes of the raw rows.

A cache of one's own has no adapter, so its project says how its rows come about: this raw row, through that function,
is that row of the entry. It runs in a Python of its own, the one that would train, before the command starts.

Source: issue 5; silent-failure-corpus L1, D13.
Blind to: builds that do not make one row of one row; entries that need a pickle to be read; compressed files.
"""

from __future__ import annotations

import bisect
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from affidavit.attach.guard import describe
from affidavit.attach.moment import CacheHit
from affidavit.cache.canary import Sighting, examine
from affidavit.cache.canary.edited import edited
from affidavit.cache.compare import bound
from affidavit.cache.probe.readable import rows_of, table_of

READABLE = (".jsonl", ".ndjson", ".json", ".csv", ".arrow", ".parquet", ".npy", ".npz", ".pt")
_LINES = (".jsonl", ".ndjson")
Rows = tuple[int, Callable[[Sequence[int]], Sequence[object]]]
"""How many rows there are, and what returns some of them."""


def main() -> None:
    """Read on standard input what was declared, and write on standard output what came of it, and nothing else."""
    asked = json.loads(sys.stdin.read())
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.dont_write_bytecode = True
    sys.path[:0] = asked["path"]
    with os.fdopen(answer, "w") as out:
        for one in asked["caches"]:
            json.dump(rebuilt(**one), out)
            out.write("\n")
            out.flush()


def rebuilt(*, name: str, raw: str, entry: str, build: str, seconds: float, offset: float = 0.0) -> dict[str, Any]:
    """Return what came of one entry, under the names that a canary's line has."""
    found = {"cache": name, "function": build.replace(":", "."), "served": 0, "edited": ""}
    try:
        module, _, attribute = build.partition(":")
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
        raw_count, raw_rows = _rows(Path(raw))
        count, stored = _rows(Path(entry))
    except BaseException as error:  # noqa: BLE001  somebody's code is imported, and may end the process
        return {**found, **_line(Sighting(outcome="raised", why=describe(error)), 0)}
    found["served"] = count
    if not count and not raw_count:
        return {**found, **_line(Sighting(outcome="nothing examined", why="it has no rows"), 0)}
    hit = CacheHit(
        cache=name,
        entry=entry,
        function=function,
        rows=min(count, raw_count),
        stored=stored,
        recompute=lambda indices: [function(row) for row in raw_rows(indices)],
        written=_written(Path(entry)),
    )
    sighting = examine(hit, seconds=seconds, offset=offset) if hit.rows else Sighting(outcome="same")
    if count != raw_count and sighting.outcome == "same":
        why = f"it has {count:,} rows, and {raw_count:,} are to be built"
        sighting = Sighting(
            outcome="different",
            why=why,
            examined=sighting.examined + abs(count - raw_count),
            different=abs(count - raw_count),
            first=(hit.rows,),
            fields=("(row)",),
        )
    if sighting.outcome == "different":
        found["edited"] = ", ".join(edited(function, hit.written))
    return {**found, **_line(sighting, count)}


def _line(sighting: Sighting, rows: int) -> dict[str, Any]:
    return {
        "examined": sighting.examined,
        "different": sighting.different,
        "bound": float(bound(sighting.examined, rows)),
        "outcome": sighting.outcome,
        "why": sighting.why,
        "fields": ", ".join(sighting.fields),
        "first": ", ".join(f"{row:,}" for row in sighting.first),
    }


def _written(path: Path) -> float:
    return max((one.stat().st_mtime for one in _files(path)), default=0.0)


def _files(path: Path) -> list[Path]:
    """Return the files of an entry; a folder is all of its shards, by name."""
    if not path.is_dir():
        return [path]
    return sorted(one for one in path.iterdir() if one.suffix in READABLE and one.suffix != ".json")


def _rows(path: Path) -> Rows:
    files = _files(path)
    if len(files) == 1:
        return _of_file(files[0])
    parts = [_of_file(one) for one in files]
    starts = [0]
    for count, _ in parts:
        starts.append(starts[-1] + count)

    def rows(indices: Sequence[int]) -> list[object]:
        found: list[object] = []
        for index in indices:
            part = bisect.bisect_right(starts, index) - 1
            found += parts[part][1]([index - starts[part]])
        return found

    return starts[-1], rows


def _of_file(path: Path) -> Rows:
    kind = path.suffix.lower()
    if kind in _LINES:
        return _of_lines(path)
    if kind in (".arrow", ".parquet"):
        table = table_of(path) if kind == ".arrow" else importlib.import_module("pyarrow.parquet").read_table(path)
        return table.num_rows, lambda indices: table.take(list(indices)).to_pylist()
    if kind in (".npy", ".npz"):
        numpy: Any = importlib.import_module("numpy")
        return _of_arrays(numpy.load(path, mmap_mode="r" if kind == ".npy" else None, allow_pickle=False))
    if kind == ".pt":
        torch: Any = importlib.import_module("torch")
        return _of_arrays(torch.load(path, map_location="cpu", weights_only=True))
    held = rows_of(path)
    return len(held), lambda indices: [held[index] for index in indices]


def _of_lines(path: Path) -> Rows:
    places: list[int] = []
    with path.open("rb") as file:
        at = 0
        for line in file:
            if line.strip():
                places.append(at)
            at += len(line)

    def rows(indices: Sequence[int]) -> list[object]:
        found = []
        with path.open("rb") as opened:
            for index in indices:
                opened.seek(places[index])
                found.append(json.loads(opened.readline()))
        return found

    return len(places), rows


def _of_arrays(held: Any) -> Rows:
    """Return the rows of an array, of a list, or of columns that are as long as one another."""
    if isinstance(held, Mapping) or hasattr(held, "files"):
        columns = {name: held[name] for name in held}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise ValueError(f"columns of {len(lengths)} lengths are no rows")
        return lengths.pop(), lambda indices: [
            {name: column[index] for name, column in columns.items()} for index in indices
        ]
    return len(held), lambda indices: [held[index] for index in indices]
