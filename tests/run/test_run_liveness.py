"""Real processes that live, hang, die and are taken for others: each is called by its right name."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_world import HERE, Project, bare_environment, wait_for
from watched import LIGHT, PATIENT, Shell, becomes, look

from affidavit.record.manifest import Status
from affidavit.run import spool, supervise
from affidavit.run.gathered import gather
from affidavit.run.liveness import stacks
from affidavit.run.liveness.budget import within
from affidavit.run.liveness.decoy import made
from affidavit.run.liveness.decoys import LIMIT_SECONDS, drill
from affidavit.run.liveness.verdict import Liveness
from affidavit.run.process import State, state
from affidavit.run.sealing import ensure_sealed
from affidavit.run.spool import publish

# --- decoys -----------------------------------------------------------------------------------------------------------


def test_every_decoy_is_called_by_its_right_name_in_time() -> None:
    drilled = drill()
    wrong = [f"{one.name}: {one.called.value} ({one.why})" for one in drilled.called if not one.is_right]
    assert wrong == []
    assert all(one.seconds < LIMIT_SECONDS for one in drilled.called)
    assert len(drilled.called) + len(drilled.unshown) == 12 and len(drilled.unshown) <= 1, drilled.unshown


# --- what cannot be seen ----------------------------------------------------------------------------------------------


def test_a_heartbeat_that_is_taken_away_is_not_replaced_by_its_copy(shell: Shell) -> None:
    folder = shell(f"exec {LIGHT} {PATIENT}")
    (place,) = gather(folder).places[1:]
    publish(place, folder)
    assert look(folder).liveness is Liveness.ALIVE
    for path in place.glob("heartbeat.*"):
        path.unlink()
    said = look(folder)
    assert said.liveness is Liveness.UNKNOWN and "gone from where it beats" in said.why[0]
    shutil.rmtree(place)
    assert look(folder).liveness is Liveness.UNKNOWN


def test_a_run_folder_that_nobody_can_read_says_nothing(shell: Shell) -> None:
    folder = shell(f"exec {LIGHT} {PATIENT}")
    (attempt,) = folder.glob("attempt.*.json")
    attempt.chmod(0o644)
    attempt.write_text("{")
    said = look(folder)
    assert said.liveness is Liveness.UNKNOWN and "cannot be read" in said.why[0]


def test_nothing_trains_yet_and_nothing_ever_does(shell: Shell) -> None:
    folder = shell("sleep 60", trains=False)
    assert "no training has begun" in becomes(folder, Liveness.ALIVE).why[0]
    assert "no Python of it was reached" in becomes(folder, Liveness.UNKNOWN, within(0.5)).why[0]


def test_looking_changes_nothing(shell: Shell) -> None:
    folder = shell(f"exec {LIGHT} {PATIENT}")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert look(folder).liveness is Liveness.ALIVE
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_from_another_pid_namespace_it_is_not_looked_up(shell: Shell) -> None:
    """Its number is somebody else's there: only the age of its beat and the word of its supervisor count."""
    folder = shell(f"exec {LIGHT} {PATIENT}")
    ask = (
        "import sys; from pathlib import Path; from affidavit.run.liveness.look import Watcher\n"
        "said = Watcher(Path(sys.argv[1])).look(); print(said.liveness.value, *said.why)"
    )
    words = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", ask, str(folder)]
    ended = subprocess.run(words, env=bare_environment(), capture_output=True, text=True, check=False, timeout=60)
    if ended.returncode and "unshare" in ended.stderr:
        pytest.skip("mount needs root")
    assert ended.stdout.startswith("ALIVE") and "cannot be looked up from here" in ended.stdout, ended


# --- a full disk ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk for spools that a file of 300 MB fills."""
    place = tmp_path / "small"
    if os.geteuid() != 0:
        pytest.skip("mount needs root")
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=300m", "none", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mount needs root")
    monkeypatch.setattr(spool, "SHARED_MEMORY", place)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    room = os.statvfs(place)
    with (place / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, room.f_bavail * room.f_frsize)


@pytest.mark.parametrize("when", ["while it trains", "before it begins"])
def test_a_disk_that_is_full_under_the_heartbeat_makes_nothing_look_alive(
    project: Project, small_disk: Path, when: str
) -> None:
    prepared = project.prepare(*project.light("--steps=100000", "--pause=0.02"))
    if when == "before it begins":
        fill(small_disk)
    child = subprocess.Popen(prepared.command.argv, env=prepared.environment)
    try:
        found = supervise.identify(child.pid)
        assert found is not None
        supervise.attempts.write_child(prepared.folder, prepared.start, found)
        project.beating()
        if when == "while it trains":
            fill(small_disk)
        step = project.step()
        wait_for(lambda: project.step() > step)
        assert look(prepared.folder).liveness is Liveness.ALIVE, "and so it is"
        if when == "before it begins":
            assert becomes(prepared.folder, Liveness.UNKNOWN, within(0.5)), "no beat, no word for it"
        child.send_signal(signal.SIGSTOP)
        becomes(prepared.folder, Liveness.STOPPED)
        child.kill()
        child.wait()
        assert look(prepared.folder, within(60)).liveness in (Liveness.DEAD, Liveness.UNKNOWN)
    finally:
        child.kill()
        child.wait()


# --- stacks -----------------------------------------------------------------------------------------------------------


def test_where_a_run_hangs_is_kept_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with made(tmp_path / "hangs", kind="deadlock", is_alone=False) as decoy:
        becomes(decoy.folder, Liveness.ALIVE)
        decoy.let_go()
        said = becomes(decoy.folder, Liveness.STALLED, within(1.5))
        (kept,) = stacks.keep(decoy.folder, 0, [one for one, _ in said.ranks], stamp="now")
        assert "rank 0 is in _lock_twice (decoy_process.py:" in kept.words or "_lock_twice" in kept.words, kept.words
        dumped = json.loads((decoy.folder / kept.path).read_text())
        assert any(frame["name"] == "_lock_twice" for thread in dumped for frame in thread["frames"])
        assert look(decoy.folder, within(1.5)).liveness is Liveness.STALLED, "and it still is"
        monkeypatch.setenv("PATH", str(tmp_path))
        (none,) = stacks.keep(decoy.folder, 0, [one for one, _ in said.ranks], stamp="later")
        assert not none.path and "py-spy is not on PATH" in none.words and "faulthandler" in none.words
        (tmp_path / "py-spy").write_text("#!/bin/sh\necho 'Error: Permission Denied: try sudo' >&2\nexit 1\n")
        (tmp_path / "py-spy").chmod(0o755)
        (refused,) = stacks.keep(decoy.folder, 0, [one for one, _ in said.ranks], stamp="denied")
        assert not refused.path and "Permission Denied" in refused.words


# --- the kernel's own word --------------------------------------------------------------------------------------------

HOG = "import sys\nheld = []\nwhile True: held.append(bytearray(1 << 22))"


def test_a_kill_for_memory_is_told_from_a_kill_by_a_person(project: Project) -> None:
    place = memory_group()
    try:
        script = project.root / "hog.py"
        script.write_text(HOG)
        words = [sys.executable, str(HERE / "supervised.py"), str(project.root), "--", sys.executable, str(script)]
        joined = ["sh", "-c", f'echo $$ > {place}/cgroup.procs && exec "$@"', "sh", *words]
        ended = subprocess.run(joined, cwd=project.root, env=project.environment, check=False, timeout=120)
        assert ended.returncode == 128 + signal.SIGKILL
        found = ensure_sealed(project.only_run)
        assert getattr(found, "status", None) is Status.OOM
    finally:
        wait_for(lambda: not (place / "cgroup.procs").read_text())
        place.rmdir()
    assert becomes(project.only_run, Liveness.DEAD).why[0] == "its command ended: OOM, signal 9"


def memory_group() -> Path:
    """Return a new control group in which 200 MB are all there is."""
    for root, limit in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        place = root / f"affidavit-test-{os.getpid()}"
        try:
            place.mkdir()
        except OSError:
            continue
        try:
            (place / limit).write_text(str(200 << 20))
            swap = place / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
            return place
        except OSError:
            place.rmdir()
    pytest.skip("no memory control group can be made here")


def test_a_process_that_is_being_killed_is_at_no_moment_alive() -> None:
    """A stopped process that is killed runs for a moment, as far as its letter tells."""
    seen: set[State] = set()
    for _ in range(20):
        started = subprocess.Popen(["sleep", "60"])
        found = supervise.identify(started.pid)
        assert found is not None
        started.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, started.pid, os.WSTOPPED | os.WNOWAIT)
        started.kill()
        while (now := state(found)) is not State.ZOMBIE:
            seen.add(now)
        started.wait()
    assert seen <= {State.ENDING}
