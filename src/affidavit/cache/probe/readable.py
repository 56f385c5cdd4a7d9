"""Reads rows and configurations from files, and an entry's rows from its shards: what a person names on a command line.

Source: JSON Lines, JSON, CSV, Parquet, Arrow; TOML and YAML for configurations.
Blind to: what a file means to the script that reads it otherwise.
"""

from __future__ import annotations

import csv
import importlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from affidavit.cache.store import Store
from affidavit.cache.store.entry import Entry
from affidavit.fact.errors import AffidavitError, refusal

_KINDS = ("jsonl", "json", "csv", "parquet", "arrow")


class UnreadableError(AffidavitError):
    """A file that was named cannot be read as what it should be."""


def rows_of(path: Path, most: int = 0) -> list[Any]:
    """Return the rows of a file, the first ``most`` of them where that is not 0."""
    try:
        return list(itertools.islice(_rows(path), most or None))
    except (OSError, ValueError, ImportError) as error:
        raise UnreadableError(_refused(path, f"rows ({', '.join(_KINDS)})", str(error))) from error


def _rows(path: Path) -> Iterator[Any]:
    kind = path.suffix.lstrip(".").lower()
    if kind in ("jsonl", "ndjson"):
        with path.open() as file:
            yield from (json.loads(line) for line in file if line.strip())
    elif kind == "json":
        said = json.loads(path.read_text())
        yield from said if isinstance(said, list) else [said]
    elif kind == "csv":
        with path.open(newline="") as file:
            yield from csv.DictReader(file)
    elif kind == "parquet":
        yield from importlib.import_module("pyarrow.parquet").read_table(path).to_pylist()
    elif kind == "arrow":
        yield from table_of(path).to_pylist()
    else:
        raise ValueError(f"a .{kind} file" if kind else "a file without an ending")


def table_of(path: Path) -> Any:
    """Return an Arrow file as a table, whether it was written as a stream or as a file."""
    import pyarrow

    try:
        with pyarrow.memory_map(str(path)) as source:
            return pyarrow.ipc.open_stream(source).read_all()
    except pyarrow.ArrowInvalid:
        with pyarrow.memory_map(str(path)) as source:
            return pyarrow.ipc.open_file(source).read_all()


def config_of(path: Path) -> Any:
    """Return what a configuration's file says."""
    kind = path.suffix.lstrip(".").lower()
    try:
        if kind in ("yaml", "yml"):
            return importlib.import_module("yaml").safe_load(path.read_text())
        if kind == "toml":
            return importlib.import_module("tomllib").loads(path.read_text())
        return json.loads(path.read_text())
    except (OSError, ValueError, ImportError) as error:
        raise UnreadableError(_refused(path, "JSON, TOML or YAML", f"{type(error).__name__}: {error}")) from error


def entry_of(said: str, store: str = "") -> Entry | None:
    """Return the entry that a person named: by its folder, or by the beginning of its key; None for neither."""
    folder = Path(said)
    if (folder / "entry.json").is_file():
        return Store(folder.resolve().parent, check="never").find(f"sha256:{folder.resolve().name}")
    kept = Store(store or None, check="never")
    begun = said.rpartition(":")[2].lower()
    near = [entry for entry in kept.entries() if entry.key.rpartition(":")[2].startswith(begun)] if begun else []
    if len(near) > 1:
        saw = f"{len(near)} entries that begin so"
        raise UnreadableError(_refused(Path(said), "one entry", saw))
    return near[0] if near else None


def wanted_entry(said: str, store: str = "") -> Entry:
    """Return the entry that a person named; none is an error."""
    found = entry_of(said, store)
    if found is None:
        where = store or str(Store(check="never").place.root)
        raise UnreadableError(_refused(Path(said), "an entry's folder or its key", f"none such in {where}"))
    return found


def _refused(path: Path, expected: str, saw: str) -> str:
    return refusal(
        subject=str(path),
        expected=expected,
        saw=saw,
        means="It cannot be read, so nothing is said.",
        action="Name another file.",
        unaffected="what is cached",
    )
