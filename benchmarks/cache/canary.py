"""What the canary finds and what it costs: 500,000 rows out of a cache, of which none or one in 200 has changed.

python benchmarks/cache/canary.py [SEEDS] [PAIRS] [ROWS]

Each seed is a run of its own: a script whose masks have changed since the entry was built is served the old labels, and
must FAIL. Then runs in which nothing has changed start with the canary and without it, one after the other. What is
measured is the time from the call of ``map`` to the first step.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import SITE, median, write

from affidavit.attach.launch import VARIABLE, Launch
from affidavit.case import Case
from affidavit.check import Verdict, judge
from affidavit.checks.cache_canary import cache_canary
from affidavit.fact import folder as names
from affidavit.fact.journal import read
from affidavit.fact.vocabulary import load
from affidavit.record.merge import merge
from affidavit.record.record import Kind

ENCODE = """
import os, zlib
SEED = int(os.environ.get("SEED", "0"))

def encode(row):
    ids = [row["x"] * step % 32_000 for step in range(1, 17)]
    is_masked = SEED and zlib.crc32(f"{SEED}:{row['x']}".encode()) % 200 == 0
    return {"input_ids": ids, "labels": [-100] * 8 + ids[8:] if is_masked else ids}
"""
SCRIPT = """
import json, sys, time
import datasets, torch
from encode import encode

datasets.disable_progress_bars()
rows = datasets.load_from_disk("rows")
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
begun = time.monotonic()
encoded = rows.map(encode)
started = time.monotonic() - begun
for _ in range(3):
    model(torch.rand(2, 4)).sum().backward()
    optimizer.step()
print(json.dumps({"started": started, "masked": sum(row["labels"][0] == -100 for row in encoded.select(range(2000)))}))
"""
BUILD = """
import sys
import datasets
datasets.disable_progress_bars()
datasets.Dataset.from_dict({"x": list(range(int(sys.argv[1])))}).save_to_disk("rows")
from encode import encode
datasets.load_from_disk("rows").map(encode)
"""
PROMISED_SECONDS = 10.0


def _run(place: Path, name: str, *, seed: int = 0, canary_seconds: float | None) -> dict[str, object]:
    """Run the script, without us where there is no time, and return what it said and what the check says of it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "SEED": str(seed), "PYTHONPATH": str(place)}
    spool = place / name
    spool.mkdir()
    if canary_seconds is not None:
        launch = names.launch(spool, 0)
        Launch(run=name, folder=str(spool), spool=str(spool), canary_seconds=canary_seconds).write(launch)
        environment |= {VARIABLE: str(launch), "PYTHONPATH": f"{SITE}{os.pathsep}{place}"}
    command = [sys.executable, "train.py"]
    ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=True)
    said: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    if canary_seconds is None:
        return said
    vocabulary = load()
    readings = [read(path) for path in names.journals(spool)]
    record = merge(readings, kind=Kind.RUN, subject=name, vocabulary=vocabulary)
    (finding,) = judge([cache_canary], Case(records={"run": record}, as_of=datetime.date(2026, 11, 30)))
    (canary,) = [value for _, value in Case(records={"run": record}, as_of=datetime.date.min).values("cache.canary")]
    (row,) = canary.records()  # type: ignore[union-attr]
    return {**said, "verdict": finding.verdict.name, "examined": row["examined"], "different": row["different"]}


def main(seeds: int = 20, pairs: int = 5, rows: int = 500_000) -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file, text in (("encode.py", ENCODE), ("train.py", SCRIPT), ("build.py", BUILD)):
            (place / file).write_text(text)
        environment = {**os.environ, "SEED": "0"}
        subprocess.run([sys.executable, "build.py", str(rows)], cwd=place, env=environment, check=True)
        stale = [_run(place, f"seed{seed}", seed=seed, canary_seconds=PROMISED_SECONDS) for seed in range(1, seeds + 1)]
        held: list[dict[str, dict[str, object]]] = []
        for pair in range(pairs):
            held.append(
                {
                    "bare": _run(place, f"bare{pair}", canary_seconds=None),
                    "off": _run(place, f"off{pair}", canary_seconds=0.0),
                    "on": _run(place, f"on{pair}", canary_seconds=3.0),
                }
            )
    assert all(one["masked"] == 0 for one in stale), "the peer built it anew, and there was nothing to find"
    assert all(one["on"]["verdict"] == Verdict.PASS.name for one in held), held
    later = [one["on"]["started"] - one["bare"]["started"] for one in held]  # type: ignore[operator]
    return write(
        "cache_canary",
        promised={
            "missed_seeds": 1.0 * (seeds >= 20),
            "largest_seconds_to_a_fail": PROMISED_SECONDS,
            "largest_seconds_later": 3.0,
        },
        found={
            "seeds": float(seeds),
            "missed_seeds": float(sum(one["verdict"] != Verdict.FAIL.name for one in stale)),
            "largest_seconds_to_a_fail": max(float(one["started"]) for one in stale),  # type: ignore[arg-type]
            "examined_rows": median([float(one["on"]["examined"]) for one in held]),  # type: ignore[arg-type]
            "seconds_later": median(later),
            "largest_seconds_later": max(later),
        },
        raw={"rows": rows, "stale": stale, "held": held},
    )


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
