"""The small parts that the supervisor stands on, each bent once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from run_world import Project, wait_for

from affidavit.attach.launch import Launch
from affidavit.fact import folder as names
from affidavit.record.manifest import Status
from affidavit.run import spool as spools
from affidavit.run.ending import Warned, ending
from affidavit.run.live import GRACE_SECONDS, SETTLE_SECONDS, LiveWatch
from affidavit.run.memory import out_of_memory_kills
from affidavit.run.process import Life, descendants, identify, life, myself
from affidavit.run.scheduler import Scheduler
from affidavit.run.spool import SpoolError, open_spool, publish, remove

# --- processes -------------------------------------------------------------------------------------------------


def test_a_living_process_is_alive_and_a_zombie_is_gone() -> None:
    child = subprocess.Popen(["sleep", "30"])
    one = identify(child.pid)
    assert one is not None and life(one) is Life.ALIVE
    child.kill()
    wait_for(lambda: identify(child.pid) is None)
    assert Path(f"/proc/{child.pid}").exists(), "it is still to be reaped"
    assert life(one) is Life.GONE
    child.wait()
    assert life(one) is Life.GONE


def test_a_later_process_of_the_same_number_is_another() -> None:
    assert life(replace(myself(), start=myself().start + 1)) is Life.GONE


def test_what_ran_before_this_machine_was_started_is_gone_and_what_runs_elsewhere_cannot_be_seen() -> None:
    assert life(replace(myself(), boot="before")) is Life.GONE
    assert life(replace(myself(), boot="before", host="elsewhere")) is Life.ELSEWHERE
    assert life(replace(myself(), namespace=1)) is Life.ELSEWHERE


def test_descendants_are_found_through_a_shell() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 30 & wait"])
    wait_for(lambda: len(descendants(child.pid)) == 2)
    for one in descendants(child.pid):
        os.kill(one.pid, signal.SIGKILL)
    child.wait()


# --- memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("membership", "file", "text", "expected"),
    [
        ("0::/job\n", "job/memory.events", "oom 4\noom_kill 3\noom_group_kill 0\n", 3),
        ("0::/the/hosts/path\n", "memory.events", "oom_kill 2\n", 2),
        ("5:cpu,memory:/job\n0::/\n", "memory/job/memory.oom_control", "under_oom 0\noom_kill 7\n", 7),
        ("0::/job\n", "other", "", 0),
        ("", "other", "", 0),
    ],
)
def test_kills_for_memory_are_counted(tmp_path: Path, membership: str, file: str, text: str, expected: int) -> None:
    (tmp_path / "cgroup").write_text(membership)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert out_of_memory_kills(root=tmp_path, membership=tmp_path / "cgroup") == expected


# --- endings ---------------------------------------------------------------------------------------------------

AT = 1_000_000.0
TERM = Warned(signal.SIGTERM, AT - 3)
USR1 = Warned(signal.SIGUSR1, AT - 3)
NONE = Scheduler()
SLURM = Scheduler(name="slurm", job="7", ends_at=int(AT) + 9_000)
LATE = replace(SLURM, ends_at=int(AT) + 30)


@pytest.mark.parametrize(
    ("exit_code", "warned", "kills", "scheduler", "expected"),
    [
        (0, (), 0, NONE, (Status.FINISHED, 0, 0)),
        (3, (), 0, NONE, (Status.FAILED, 3, 0)),
        (-9, (), 0, NONE, (Status.KILLED, 137, 9)),
        (137, (), 0, NONE, (Status.KILLED, 137, 9)),
        (-9, (), 1, NONE, (Status.OOM, 137, 9)),
        (1, (), 2, NONE, (Status.OOM, 1, 0)),
        (0, (), 1, NONE, (Status.FINISHED, 0, 0)),
        (-15, (TERM,), 0, NONE, (Status.KILLED, 143, 15)),
        (1, (TERM,), 0, NONE, (Status.KILLED, 1, 15)),
        (0, (TERM,), 0, NONE, (Status.FINISHED, 0, 0)),
        (-15, (TERM,), 0, SLURM, (Status.PREEMPTED, 143, 15)),
        (0, (TERM,), 0, SLURM, (Status.PREEMPTED, 0, 15)),
        (-15, (TERM,), 0, LATE, (Status.TIMEOUT, 143, 15)),
        (1, (USR1,), 0, LATE, (Status.TIMEOUT, 1, 10)),
        (1, (USR1,), 0, SLURM, (Status.FAILED, 1, 0)),
        (1, (USR1,), 0, NONE, (Status.FAILED, 1, 0)),
        (-9, (TERM,), 0, SLURM, (Status.PREEMPTED, 137, 9)),
    ],
)
def test_how_it_ended_in_one_word(
    exit_code: int,
    warned: tuple[Warned, ...],
    kills: int,
    scheduler: Scheduler,
    expected: tuple[Status, int, int],
) -> None:
    came = ending(exit_code, warned=warned, memory_kills=kills, scheduler=scheduler, at=AT)
    assert (came.status, came.code, came.signal) == expected


def test_a_signal_that_did_not_end_it_is_told_and_what_we_ended_says_why() -> None:
    survived = ending(0, warned=(TERM,), memory_kills=0, scheduler=NONE, at=AT)
    assert survived.notes == ("SIGTERM came 3 s before the command ended with exit code 0",)
    stopped = ending(-15, warned=(), memory_kills=0, scheduler=NONE, at=AT, stopped="--stop-on lock-holds")
    assert (stopped.status, stopped.notes) == (Status.STOPPED, ("--stop-on lock-holds",))


# --- the spool -------------------------------------------------------------------------------------------------


def test_a_spool_is_ours_alone(tmp_path: Path) -> None:
    spool = open_spool("r", 0, places=(tmp_path,))
    assert spool == tmp_path / f"affidavit-{os.geteuid()}" / "r" / "0"
    for folder in (spool, spool.parent, spool.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert open_spool("r", 0, places=(tmp_path,)) == spool
    remove(spool)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_somebody_prepared_for_us_is_not_used(tmp_path: Path) -> None:
    trap, free, other = tmp_path / "trap", tmp_path / "free", tmp_path / "other"
    for folder in (trap, free, other):
        folder.mkdir()
    (trap / f"affidavit-{os.geteuid()}").symlink_to(other)
    assert open_spool("r", 0, places=(trap, free)).is_relative_to(free)
    with pytest.raises(SpoolError, match="belongs to somebody else"):
        open_spool("r", 0, places=(trap,))
    assert list(other.iterdir()) == []


def test_a_place_without_room_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "NEEDED_BYTES", 1 << 62)
    with pytest.raises(SpoolError, match="MiB free"):
        open_spool("r", 0, places=(tmp_path,))


def test_an_old_spool_whose_run_is_gone_is_forgotten_and_no_other(project: Project, tmp_path: Path) -> None:
    places = (tmp_path / "shm",)
    places[0].mkdir()
    old = time.time() - 2 * spools.LOST_SECONDS
    kept, fresh, lost = (open_spool(name, 0, places=places) for name in ("kept", "fresh", "lost"))
    for spool, folder in ((kept, tmp_path), (fresh, tmp_path / "gone"), (lost, tmp_path / "gone")):
        path = names.launch(spool, 0)
        Launch(run="r", folder=str(folder), spool=str(spool)).write(path)
        if spool is not fresh:
            os.utime(path, (old, old))
    open_spool("next", 0, places=places)
    assert kept.exists() and fresh.exists() and not lost.exists()


def test_only_the_record_is_published_and_links_are_not_followed(tmp_path: Path) -> None:
    spool, folder, secret = tmp_path / "spool", tmp_path / "folder", tmp_path / "secret"
    secret.write_text("mine")
    for place in (spool / "evidence", spool / "scratch"):
        place.mkdir(parents=True)
    (spool / "hello").write_text("1")
    (spool / "evidence" / "ab").write_text("2")
    (spool / "scratch" / "the users.bin").write_text("3")
    (spool / "link").symlink_to(secret)
    assert publish(spool, folder) == ()
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["evidence", "evidence/ab", "hello"]
    (spool / "hello").write_text("longer")
    assert publish(spool, folder) == () and (folder / "hello").read_text() == "longer"
    assert publish(tmp_path / "nothing", folder) == ()


# --- the live moment -------------------------------------------------------------------------------------------


def _journal(spool: Path, rank: int, world: int, *, live: bool) -> None:
    lines = [
        f'{{"kind":"opened","format":1,"process":"h-{rank}-1"}}',
        f'{{"kind":"bound","rank":{rank},"world":{world}}}',
    ]
    lines += ['{"kind":"live","step":2}'] if live else []
    names.journal(spool, f"h-{rank}-1", 0).write_text("\n".join(lines) + "\n")


def test_it_is_live_when_every_rank_is(tmp_path: Path) -> None:
    watch = LiveWatch(tmp_path, 0)
    assert not watch.is_live(0.0)
    _journal(tmp_path, 0, 2, live=True)
    _journal(tmp_path, 1, 2, live=False)
    assert not watch.is_live(1.0)
    _journal(tmp_path, 1, 2, live=True)
    assert watch.is_live(1.1)


def test_a_rank_that_never_comes_is_waited_for_a_while(tmp_path: Path) -> None:
    watch = LiveWatch(tmp_path, 0)
    _journal(tmp_path, 0, 4, live=True)
    assert not watch.is_live(10.0) and not watch.is_live(10.0 + SETTLE_SECONDS - 1)
    _journal(tmp_path, 1, 4, live=False)
    assert not watch.is_live(10.0 + SETTLE_SECONDS + 1), "a rank that is there and not live yet gets more time"
    assert watch.is_live(10.0 + GRACE_SECONDS)


def test_another_attempts_journal_is_not_this_ones(tmp_path: Path) -> None:
    _journal(tmp_path, 0, 1, live=True)
    assert not LiveWatch(tmp_path, 1).is_live(100.0)
