"""How fast rows are encoded into a store, against ``datasets.map`` and against a bare tokenizer and writer.

python benchmarks/cache/build.py [ROUNDS [ROWS]]
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from rows import BATCH, alone, encoder, peak_bytes, prepare

KINDS = ("encode", "map", "bare")
PROCESSES = 2


def encode(folder: Path, out: Path, rows: int) -> None:
    from datasets import load_from_disk

    from affidavit.cache.encoding.encode import encode as ours

    dataset = load_from_disk(folder / "rows").select(range(rows))
    function = encoder(folder)
    _timed(lambda: ours(dataset, function, store=out, num_proc=PROCESSES, remove_columns="text"), rows)


def map(folder: Path, out: Path, rows: int) -> None:
    from datasets import load_from_disk

    dataset = load_from_disk(folder / "rows").select(range(rows))
    function = encoder(folder)
    file = str(out / "rows.arrow")
    out.mkdir()
    _timed(
        lambda: dataset.map(function, batched=True, num_proc=PROCESSES, remove_columns=["text"], cache_file_name=file),
        rows,
    )


def bare(folder: Path, out: Path, rows: int) -> None:
    """Write nothing but the tokens, in one process, with as many threads as the tokenizer likes."""
    import pyarrow
    from datasets import load_from_disk

    table = load_from_disk(folder / "rows").select(range(rows)).data.table
    function = encoder(folder)
    kind = pyarrow.list_(pyarrow.int32())
    out.mkdir()

    def build() -> None:
        schema = pyarrow.schema([("input_ids", kind)])
        with pyarrow.OSFile(str(out / "rows.arrow"), "wb") as file, pyarrow.ipc.new_stream(file, schema) as writer:
            for at in range(0, rows, BATCH):
                made = function({"text": table.column("text").slice(at, BATCH).to_pylist()})
                writer.write_batch(pyarrow.record_batch([pyarrow.array(made["input_ids"], kind)], schema=schema))

    _timed(build, rows)


def _timed(build: object, rows: int) -> None:
    began = time.perf_counter()
    build()  # type: ignore[operator]
    seconds = time.perf_counter() - began
    sys.stdout.write(
        json.dumps({"seconds": seconds, "rows_per_second": rows / seconds, "peak_bytes": peak_bytes()}) + "\n"
    )


def main(rounds: int = 3, rows: int = 500_000) -> int:
    from measuring import median, write

    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in (*KINDS, "encode a fifth")}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, rows)
        for _ in range(rounds):
            for kind in found:
                out = folder / "out"
                asked = rows // 5 if kind == "encode a fifth" else rows
                found[kind].append(alone(__file__, kind.partition(" ")[0], folder, out, asked))
                shutil.rmtree(out)

    def of(kind: str, what: str) -> float:
        return median([one[what] for one in found[kind]])

    return write(
        "cache_build",
        promised={
            "seconds_of_map": 1.0,
            "seconds_of_bare": 1.25,
            "peak_bytes_more_than_for_a_fifth": 32e6,
        },
        found={
            "rows": rows,
            **{f"{kind}_rows_per_second": of(kind, "rows_per_second") for kind in KINDS},
            "seconds_of_map": of("encode", "seconds") / of("map", "seconds"),
            "seconds_of_bare": of("encode", "seconds") / of("bare", "seconds"),
            "encode_peak_bytes": of("encode", "peak_bytes"),
            "peak_bytes_more_than_for_a_fifth": of("encode", "peak_bytes") - of("encode a fifth", "peak_bytes"),
        },
        raw=found,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one, place, out, rows = sys.argv[2:]
        globals()[one](Path(place), Path(out), int(rows))
        sys.exit(0)
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
