"""How soon rows are there that were encoded before: ours, ``datasets.map`` and ``joblib.Memory``, in new processes.

The first hit of a process is what a run waits for; those after it are what a notebook waits for.

python benchmarks/cache/encoding/hit.py [ROUNDS [ROWS]]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows import alone, encoder, prepare

KINDS = ("encode", "map", "joblib")
LATER = 5


def encode(folder: Path) -> None:
    from datasets import load_from_disk

    from affidavit.cache.encoding.encode import encode as ours

    dataset, function = load_from_disk(folder / "rows"), encoder(folder)
    _timed(lambda: ours(dataset, function, store=folder / "store", num_proc=2, remove_columns="text"))


def map(folder: Path) -> None:
    from datasets import load_from_disk

    dataset, function = load_from_disk(folder / "rows"), encoder(folder)
    _timed(lambda: dataset.map(function, batched=True, num_proc=2, remove_columns=["text"]))


def joblib(folder: Path) -> None:
    from datasets import load_from_disk
    from joblib import Memory

    texts, function = list(load_from_disk(folder / "rows")["text"]), encoder(folder)

    def tokens(texts: list[str]) -> Any:
        return function({"text": texts})

    kept = Memory(folder / "joblib", verbose=0).cache(tokens)
    _timed(lambda: kept(texts))


def _timed(hit: Callable[[], Any]) -> None:
    seconds = []
    for _ in range(1 + LATER):
        began = time.perf_counter()
        hit()
        seconds.append(time.perf_counter() - began)
    sys.stdout.write(json.dumps({"first": seconds[0], "later": sorted(seconds[1:])[LATER // 2]}) + "\n")


def main(rounds: int = 5, rows: int = 500_000) -> int:
    from measuring import median, write

    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, rows)
        for kind in KINDS:
            alone(__file__, kind, folder)
        time.sleep(3)  # rows that are as young as the process that reads them are hashed each time
        for _ in range(rounds):
            for kind in KINDS:
                found[kind].append(alone(__file__, kind, folder))

    def of(kind: str, what: str) -> float:
        return median([one[what] for one in found[kind]])

    return write(
        "cache_hit",
        promised={"first_of_map": 1.0, "later_of_map": 1.0, "first_of_joblib": 1.0, "later_of_joblib": 1.0},
        found={
            "rows": rows,
            **{f"{kind}_{what}_seconds": of(kind, what) for kind in KINDS for what in ("first", "later")},
            **{
                f"{what}_of_{peer}": of("encode", what) / of(peer, what)
                for what in ("first", "later")
                for peer in ("map", "joblib")
            },
        },
        raw=found,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        globals()[sys.argv[2]](Path(sys.argv[3]))
        sys.exit(0)
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
