"""A training script without a framework: it beats and writes its journal as the inner half does, and nothing else.

    light.py FOLDER [--steps N] [--ranks N] [--pause SECONDS] [--end WHAT] [--term graceful|count]

Each rank writes its step to ``FOLDER/progress.<rank>`` after the beat, so that a test has a second witness.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from affidavit.attach.heartbeat import Heartbeat
from affidavit.attach.instrument import process_identity
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.term import Method
from affidavit.fact.values import Tally

FACTS = {
    "adapter.kind": (Method.INSPECTED, "none"),
    "adapter.targets": (Method.INSPECTED, ()),
    "adapter.matched": (Method.INSPECTED, Tally("modules", ())),
    "attention.kernels": (Method.EXECUTED, ("flash",)),
    "attention.executed": (Method.EXECUTED, Tally.count("calls", {"flash": 4})),
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.01)
    parser.add_argument("--end", default="0")
    parser.add_argument("--term", default="")
    parser.add_argument("--resume", default="")
    asked = parser.parse_args()
    if asked.ranks:
        return launch(asked.ranks)
    return train(asked, int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


def launch(ranks: int) -> int:
    """Do what a launcher does: start the ranks, and when one is gone end the others and say 1."""
    words = [word for word in sys.argv if not word.startswith("--ranks=")]
    started = [
        subprocess.Popen([sys.executable, *words], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks)})
        for rank in range(ranks)
    ]
    while any(one.poll() is None for one in started):
        if any(one.poll() for one in started):
            for one in started:
                one.terminate()
        time.sleep(0.01)
    return 1 if any(one.returncode for one in started) else 0


def train(asked: argparse.Namespace, rank: int, world: int) -> int:
    launched = Launch.read(Path(os.environ[VARIABLE]))
    spool, process = Path(launched.spool), process_identity()
    details = {
        "attempt": launched.attempt,
        "emits": sorted(FACTS),
        "executable": sys.executable,
        "cwd": str(Path.cwd()),
        "began": time.time(),
        "command": " ".join(sys.argv),
    }
    journal = Journal(names.journal(spool, process, launched.attempt), process=process, details=details)
    journal.write("bound", rank=rank, world=world, backend="")
    journal.write("episode", number=0, driver="light")
    beats = Heartbeat(names.heartbeat(spool, process, launched.attempt))
    leaving: list[int] = []
    if asked.term == "graceful":
        signal.signal(signal.SIGTERM, lambda number, frame: leaving.append(number))
    progress = os.open(asked.folder / f"progress.{rank}", os.O_WRONLY | os.O_CREAT, 0o644)
    for step in range(1, asked.steps + 1):
        time.sleep(asked.pause)
        beats.beat(step)
        os.pwrite(progress, f"{step:8}".encode(), 0)
        if step == 2:
            for term, (method, value) in FACTS.items():
                journal.observe(Observation(term, Aspect.RESOLVED, Known(value, method, "light"), 0, step))
            journal.write("live", step=step)
        if leaving:
            break
    if asked.end == "raise":
        journal.write("episode", number=0, driver="light", ended="RuntimeError: the loss is nan")
        journal.close("exited")
        raise RuntimeError("the loss is nan")
    if asked.end == "swallow":
        journal.write("episode", number=0, driver="light", ended="RuntimeError: the loss is nan")
        journal.close("exited")
        return 0
    journal.write("episode", number=0, driver="light", ended="returned")
    journal.close("exited")
    return int(asked.end)


if __name__ == "__main__":
    sys.exit(main())
