"""A training without a framework that goes wrong in a way of its own; ``drill --watch`` must call it by its name.

    python -m affidavit.run.liveness.decoy_process KIND

It beats and writes its journal as a training process does. ``loop`` goes on for ever; the others take some steps and
then do what they are named for.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from affidavit.attach.heartbeat import Heartbeat
from affidavit.attach.instrument import process_identity, process_place
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal

STEP_SECONDS = 0.02
GO = "go"
"""The file in the spool that lets a decoy go wrong; until it is there it trains as any other."""


def main() -> int:
    kind = sys.argv[1]
    launched = Launch.read(Path(os.environ[VARIABLE]))
    spool, process = Path(launched.spool), process_identity()
    details = {"attempt": launched.attempt, "emits": [], **process_place()}
    journal = Journal(names.journal(spool, process, launched.attempt), process=process, details=details)
    journal.write("bound", rank=0, world=1, backend="")
    journal.write("episode", number=0, driver="decoy")
    beats = Heartbeat(names.heartbeat(spool, process, launched.attempt))
    step = 0
    while kind == "loop" or not (spool / GO).exists():
        time.sleep(STEP_SECONDS)
        step += 1
        beats.beat(step)
    if kind == "deadlock":
        _lock_twice()
    elif kind == "thread":
        threading.Thread(target=_beat_on, args=(beats, step), daemon=True).start()
        _lock_twice()
    elif kind == "uninterruptible":
        _sleep_uninterruptibly(spool / "pipe")
    journal.write("episode", number=0, driver="decoy", ended="returned")
    journal.close("exited")
    return int(kind.removeprefix("exit"))


def _lock_twice() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _beat_on(beats: Heartbeat, step: int) -> None:
    while True:
        beats.beat(step)
        time.sleep(STEP_SECONDS)


def _sleep_uninterruptibly(pipe: Path) -> None:
    """Sleep as a process does whose disk does not answer: a parent waits so until the child it spawned has begun.

    The child waits for somebody to write to a pipe before it begins, and nobody does.

    Source: posix_spawn(3), vfork(2); the state is D, and only SIGKILL ends it.
    """
    os.mkfifo(pipe)
    waits = (os.POSIX_SPAWN_OPEN, 0, str(pipe), os.O_RDONLY, 0)
    os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}, file_actions=[waits])


if __name__ == "__main__":
    os._exit(main())  # a thread that beats on must not keep it
