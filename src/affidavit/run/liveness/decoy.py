"""One decoy: a run folder, a spool, and a process in it that trains as far as anybody can see."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import affidavit
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names
from affidavit.record.manifest import Status
from affidavit.record.record import Kind
from affidavit.run import attempt as attempts
from affidavit.run.attempt import Ended, Start
from affidavit.run.liveness.decoy_process import GO
from affidavit.run.process import Identity, descendants, identify, myself, send
from affidavit.run.scheduler import Scheduler
from affidavit.run.spool import open_spool

NAMESPACED = "namespaced"
"""The kind that trains in a pid namespace of its own."""


@dataclass
class Decoy:
    """A run folder and a spool, the process that beats there, and the supervisor that is said to watch it."""

    folder: Path
    start: Start
    process: subprocess.Popen[bytes] | None = None

    @property
    def spool(self) -> Path:
        return Path(self.start.spool)

    def let_go(self) -> None:
        (self.spool / GO).touch()

    def kill(self, *, reaped: bool = True) -> None:
        assert self.process is not None
        self.process.kill()
        if reaped:
            self.process.wait()

    def say_ended(self) -> None:
        """Wait for the process, and write down how it ended as a supervisor does."""
        assert self.process is not None
        code = self.process.wait()
        status = Status.KILLED if code < 0 else Status.FAILED if code else Status.FINISHED
        number = max(-code, 0)
        ended = Ended(status=status, code=128 + number if number else code, signal=number, ended=attempts.now())
        attempts.write_ended(self.folder, self.start, ended)


class NotHereError(Exception):
    """This decoy cannot be made on this machine."""


@contextmanager
def made(place: Path, *, kind: str, is_alone: bool) -> Iterator[Decoy]:
    """Give a decoy that trains; whatever of it still lives at the end is killed."""
    run = place.name
    spool = open_spool(run, 0, places=(folder_at(place.parent / "spools"),))
    supervisor = _somebody_gone() if is_alone else myself()
    start = Start(
        run=run,
        number=0,
        task=0,
        kind=Kind.RUN,
        recipe="decoy",
        command=("decoy", kind),
        cwd=str(place),
        project=str(place),
        spool=str(spool),
        supervisor=supervisor,
        scheduler=Scheduler(),
        started=attempts.now(),
    )
    decoy = Decoy(folder_at(place), start)
    attempts.claim(decoy.folder, start)
    Launch(run=run, folder=str(place), spool=str(spool)).write(names.launch(spool, 0))
    try:
        decoy.process = _started(kind, decoy)
        child = identify(decoy.process.pid)
        if child is None:
            raise NotHereError("its process ended at once")
        attempts.write_child(decoy.folder, start, child)
        yield decoy
    finally:
        _end(decoy.process)


def _started(kind: str, decoy: Decoy) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "affidavit.run.liveness.decoy_process", kind]
    if kind == NAMESPACED:
        words = ["sh", "-c", f"{' '.join([*_unshare(), *words[:-1], 'loop'])}; sleep 600"]
    return popen(words, {VARIABLE: str(names.launch(decoy.spool, 0))})


def popen(words: Sequence[str], more: dict[str, str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(affidavit.__file__).parents[1]), **more}
    return subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes] | None) -> None:
    """End a process and all that it started, unless it was waited for: its number may be another decoy's by now."""
    if process is None or process.poll() is not None:
        return
    for one in descendants(process.pid):
        send(one, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def folder_at(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _somebody_gone() -> Identity:
    """Return the identity of a process that lived and was reaped."""
    started = subprocess.Popen(["sleep", "60"])
    found = identify(started.pid)
    started.kill()
    started.wait()
    assert found is not None, "a child that nobody has waited for has a line in /proc"
    return found


def _unshare() -> list[str]:
    """Return the words that start a command in a pid namespace of its own."""
    tool = shutil.which("unshare")
    for words in (["--pid"], ["--user", "--map-root-user", "--pid"]):
        if tool and not subprocess.run([tool, *words, "--fork", "true"], capture_output=True, check=False).returncode:
            return [tool, *words, "--fork", "--kill-child"]
    raise NotHereError("no pid namespace can be made here")
