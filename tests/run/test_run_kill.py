"""Whoever is killed, the run ends sealed, with how it ended and how far it came."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from run_world import Project, bare_environment

from affidavit.attach import heartbeat
from affidavit.fact import folder as names
from affidavit.record import seal
from affidavit.record.manifest import Manifest, Status
from affidavit.run import gathered, place, process
from affidavit.run.sealing import Running, ensure_sealed

STEPS = ("--steps=400", "--pause=0.005")
AT_ONCE = 5


def _projects(tmp_path: Path, count: int) -> list[Project]:
    made = [Project(tmp_path / str(number)) for number in range(count)]
    for project in made:
        project.root.mkdir()
    return made


def _at_once(kill: object, projects: list[Project]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in pool.map(kill, projects):  # type: ignore[arg-type]
            assert done is None


def _a_moment() -> None:
    time.sleep(random.uniform(0.0, 0.4))


def _steps_agree(project: Project, manifest: Manifest, ranks: int = 1) -> None:
    """The last step on the record is the heartbeat's, and the rank's own word comes at most one step after."""
    (attempt,) = manifest.attempts
    assert {process.rank for process in attempt.processes} == set(range(ranks))
    for one in attempt.processes:
        beat = heartbeat.read(names.heartbeat(project.only_run, one.identity, 0))
        assert beat is not None and one.last_step == beat.step
        assert one.last_step - project.step(one.rank) in (0, 1)
    assert attempt.last_step == max(one.last_step for one in attempt.processes) > 0


def test_ten_scripts_killed_are_sealed_as_killed_with_the_signal(tmp_path: Path) -> None:
    def kill(project: Project) -> None:
        supervisor = project.start(*project.light(*STEPS))
        project.beating()
        _a_moment()
        os.kill(project.pid(), signal.SIGKILL)
        assert supervisor.wait(30) == 128 + signal.SIGKILL
        manifest = seal.read_sealed(project.only_run).manifest
        assert (manifest.status, manifest.attempts[0].signal) == (Status.KILLED, signal.SIGKILL)
        _steps_agree(project, manifest)

    _at_once(kill, _projects(tmp_path, 10))


def test_ten_ranks_killed_under_a_launcher_end_the_run_as_its_launcher_says(tmp_path: Path) -> None:
    def kill(project: Project) -> None:
        supervisor = project.start(*project.light(*STEPS, "--ranks=2"))
        project.beating(ranks=2)
        _a_moment()
        os.kill(project.pid(rank=1), signal.SIGKILL)
        assert supervisor.wait(30) == 1
        manifest = seal.read_sealed(project.only_run).manifest
        assert (manifest.status, manifest.attempts[0].exit_code) == (Status.FAILED, 1)
        _steps_agree(project, manifest, ranks=2)

    _at_once(kill, _projects(tmp_path, 10))


def test_fifteen_supervisors_killed_leave_the_training_alone_and_the_next_reader_seals_it(tmp_path: Path) -> None:
    def kill(project: Project) -> None:
        supervisor = project.start(*project.light("--steps=150", "--pause=0.005"))
        project.beating()
        _a_moment()
        supervisor.kill()
        supervisor.wait(10)
        running = ensure_sealed(project.only_run)
        assert isinstance(running, Running) or project.step() == 150
        manifest = project.over()
        assert project.step() == 150, "the training was brought down with its supervisor"
        (attempt,) = manifest.attempts
        assert (attempt.status, attempt.exit_code, attempt.last_step) == (Status.FINISHED, None, 150)
        assert any("ended without a word" in note for note in manifest.notes)
        _steps_agree(project, manifest)

    _at_once(kill, _projects(tmp_path, 15))


def test_fifteen_process_groups_killed_are_sealed_by_the_next_reader(tmp_path: Path) -> None:
    def kill(project: Project) -> None:
        supervisor = project.start(*project.light(*STEPS, "--ranks=2"))
        project.beating(ranks=2)
        _a_moment()
        os.killpg(supervisor.pid, signal.SIGKILL)
        supervisor.wait(10)
        manifest = project.over()
        (attempt,) = manifest.attempts
        assert (attempt.status, attempt.exit_code, attempt.signal) == (Status.KILLED, None, 0)
        _steps_agree(project, manifest, ranks=2)

    _at_once(kill, _projects(tmp_path, 15))


def test_a_run_that_ended_by_itself_while_nobody_watched_is_not_called_killed(project: Project) -> None:
    supervisor = project.start(*project.light("--steps=60", "--end=raise"), stderr=subprocess.DEVNULL)
    project.beating()
    supervisor.kill()
    supervisor.wait(10)
    (attempt,) = project.over().attempts
    assert (attempt.status, attempt.exit_code) == (Status.FAILED, 1)


def test_two_readers_at_once_make_one_seal(project: Project, tmp_path: Path) -> None:
    supervisor = project.start(*project.light(*STEPS))
    project.beating()
    os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.wait(10)
    reader = (
        "import sys, time; from pathlib import Path; from affidavit.run.sealing import ensure_sealed\n"
        "from affidavit.record import seal\n"
        "while time.time() < float(sys.argv[2]): pass\n"
        "found = ensure_sealed(Path(sys.argv[1]))\n"
        "print(found.status.value, seal.read_sealed(Path(sys.argv[1])).digest)"
    )
    words = [sys.executable, "-c", reader, str(project.only_run), str(time.time() + 1.0)]
    readers = [
        subprocess.Popen(words, env=bare_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    said = {one.communicate(timeout=30) for one in readers}
    assert len(said) == 1, said
    ((out, err),) = said
    assert out.startswith(b"KILLED sha256:") and not err
    assert len(list(project.only_run.glob("manifest*"))) == 1


def test_a_process_of_the_same_number_does_not_keep_a_dead_run_alive(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bend: judged by pid alone, the run would never be over."""
    supervisor = project.start(*project.light(*STEPS))
    project.beating()
    os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.wait(10)

    def by_number(one: process.Identity) -> process.Life:
        return process.Life.ALIVE

    monkeypatch.setattr(gathered, "life", by_number)
    monkeypatch.setattr(place, "life", by_number)
    assert isinstance(ensure_sealed(project.only_run), Running)
    monkeypatch.undo()
    assert project.over().status is Status.KILLED
