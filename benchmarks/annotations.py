"""What a long memory costs: a run with ten thousand corrections, verified, read through the fold, and corrected again.

python benchmarks/annotations.py [COUNT]
"""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import median, write

from affidavit.fact import folder as names
from affidavit.fact.observation import Known
from affidavit.fact.values import Tally
from affidavit.fact.vocabulary import load
from affidavit.record import canonical, chain, file, fold, seal, verification
from affidavit.record.annotation import Annotation, Extent
from affidavit.record.key import Trust
from affidavit.record.manifest import Status, from_record
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.standing import Standing

WORDS = load()
THEN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
ROUNDS = 5
NOT_REVIEWED = tuple(f"{subject}.*" for subject in ("adapter", "batch", "cache", "code", "dataset", "loader", "tokens"))


def main(count: int = 10_000) -> int:
    raw: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = _corrected(Path(place), count)
        for _ in range(ROUNDS):
            raw.append(
                {
                    "verify_cpu_seconds": _spent(lambda: _verified(folder, count)),
                    "fold_cpu_seconds": _spent(lambda: _folded(folder, count)),
                }
            )
        chain_bytes = (folder / names.ANNOTATIONS).stat().st_size
        append = _spent(lambda: chain.annotate(folder, reason="one more", author="ada", time=THEN))
    return write(
        "annotations",
        promised={"verify_cpu_seconds": 2.0},
        found={
            "verify_cpu_seconds": median([one["verify_cpu_seconds"] for one in raw]),
            "fold_cpu_seconds": median([one["fold_cpu_seconds"] for one in raw]),
            "append_cpu_seconds": append,
            "annotations": count,
            "chain_megabytes": chain_bytes / 1e6,
        },
        raw=raw,
    )


def _corrected(folder: Path, count: int) -> Path:
    """Return a sealed run with so many corrections, written at once: each append reads all that stand before it."""
    flash = Known(Tally.count("calls", {"flash": 4}), WORDS["attention.executed"].least, "the model")
    four = Known(4, WORDS["tokens.rows_examined"].least, "the model")
    facts = (Fact(name="attention.executed", state=flash, ranks=(0,)),)
    facts += (Fact(name="tokens.rows_examined", state=four, ranks=(0,)),)
    record = Record(kind=Kind.RUN, subject="run-1", facts=ordered(facts), vocabulary=WORDS)
    digest = seal.seal(folder, from_record(record, affidavit="0", status=Status.ADOPTED, attempts=()))
    lines: list[bytes] = []
    last = digest
    for number in range(1, count + 1):
        fells = number == count
        one = Annotation(
            seq=number,
            prev=str(last),
            about=str(digest),
            kind=Extent.ERRATUM if fells else Extent.NOTE,
            falls=("attention.executed",) if fells else (),
            survives=("tokens.rows_examined",),
            not_reviewed=NOT_REVIEWED,
            reason=f"looked at for the {number}th time, in the review of the week",
            author="ada",
            time=THEN,
        )
        lines.append(one.encode())
        last = canonical.digest_bytes(lines[-1])
    file.replace(folder / names.ANNOTATIONS, b"".join(line + b"\n" for line in lines))
    file.replace(folder / names.HEAD, seal.Head(manifest=digest, count=count, last=last).encode())
    return folder


def _verified(folder: Path, count: int) -> None:
    found = verification.verify(folder, Trust())
    if found.worst is not Standing.HOLDS or len(found.sealed[0].links) != count + 1:
        raise RuntimeError(f"expected {count} corrections that hold, saw {found.examined}")


def _folded(folder: Path, count: int) -> None:
    record = fold.read_record(folder, WORDS)
    if record.find("attention.executed")[0].was is None or len(record.notes) != count:
        raise RuntimeError("what the last correction fells stands")


def _spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
