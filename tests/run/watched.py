"""Runs that are looked at: the helper of the tests of liveness."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from run_world import HERE, Project, wait_for

from affidavit.attach import heartbeat
from affidavit.run.gathered import gather
from affidavit.run.liveness.budget import Budgets
from affidavit.run.liveness.look import Watcher
from affidavit.run.liveness.verdict import Judgement, Liveness
from affidavit.run.spool import publish

Shell = Callable[..., Path]
LIGHT = f"{sys.executable} {HERE / 'light.py'} $HERE"
PATIENT = "--steps=100000 --pause=0.02"


def look(folder: Path, budgets: Budgets | None = None) -> Judgement:
    watcher = Watcher(folder, budgets)
    try:
        return watcher.look()
    finally:
        watcher.close()


def becomes(folder: Path, expected: Liveness, budgets: Budgets | None = None, *, seconds: float = 20.0) -> Judgement:
    """Return the verdict once it is what it must be."""
    said: list[Judgement] = []

    def is_so() -> bool:
        said.append(look(folder, budgets))
        return said[-1].liveness is expected

    try:
        wait_for(is_so, seconds=seconds)
    except AssertionError:
        raise AssertionError(f"expected {expected.value}, saw {said[-1].liveness.value}: {said[-1].why}") from None
    return said[-1]


@contextmanager
def shell_of(project: Project) -> Iterator[Shell]:
    """Give what starts a shell line under a supervisor; nothing that it starts outlives this."""
    started: list[subprocess.Popen[bytes]] = []

    def start(line: str, *, trains: bool = True) -> Path:
        """Return the run folder, once the run trains."""
        words = ("bash", "-c", line.replace("$HERE", str(project.root)))
        started.append(project.start(*words, seals=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        if trains:
            project.beating()
        wait_for(lambda: project.runs.is_dir() and list(project.runs.glob("*/child.*.json")))
        return project.only_run

    try:
        yield start
    finally:
        for one in started:
            os.killpg(one.pid, signal.SIGKILL)  # its own group, and nobody has waited for it yet
            one.wait()


def elsewhere(folder: Path, copy: Path) -> Path:
    """Return a run folder as another host sees it in a store that both share: none of its processes is of that host."""
    (place,) = gather(folder).places[1:]
    publish(place, folder)
    (told,) = gather(folder).told
    boot = told.start.supervisor.boot
    shutil.copytree(folder, copy / folder.name)
    there = copy / folder.name
    host = os.uname().nodename
    for path in (*there.glob("*.json"), *there.glob("*.jsonl")):
        path.chmod(0o644)
        text = (
            path.read_text()
            .replace(f'"host": "{host}"', '"host": "there"')
            .replace(f'"host":"{host}"', '"host":"there"')
        )
        text = text.replace(boot, "another-boot").replace(str(place), "/nowhere")
        path.write_text(text.replace(f'"process":"{_as_in_name(host)}-', '"process":"there-'))
    for path in there.glob("heartbeat.*"):
        path.rename(path.with_name(path.name.replace(f".{_as_in_name(host)}-", ".there-")))
    beats = [heartbeat.read(path) for path in there.glob("heartbeat.*")]
    assert len(beats) == 1 and beats[0] is not None
    return there


def _as_in_name(host: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in host)
