"""Each signal reaches the command once, a terminal is the command's own, and what we end ends whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_world import Project, bare_environment, wait_for

from affidavit.record import seal
from affidavit.record.manifest import Status
from affidavit.run import companion, supervise
from affidavit.run.process import identify
from affidavit.run.witness import Witness

COUNTER = """\
import os, signal, sys, time
seen = []
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, lambda number, frame: seen.append(number))
open(sys.argv[1], "w").close()
ends = time.time() + 0.8
while time.time() < ends:
    time.sleep(0.02)
print(len(seen))
"""


def _count(project: Project, send: object, number: int) -> int:
    ready = project.root / "ready"
    supervisor = project.start(sys.executable, "-c", COUNTER, str(ready), stdout=subprocess.PIPE)
    wait_for(ready.exists)
    time.sleep(0.1)
    send(supervisor.pid, number)  # type: ignore[operator]
    out, _ = supervisor.communicate(timeout=30)
    return int(out)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to us", "to the group"])
def test_a_signal_reaches_the_command_once(project: Project, send: object, number: int) -> None:
    assert _count(project, send, number) == 1


def test_without_the_witness_a_groups_signal_comes_twice(project: Project) -> None:
    """The bend, and the reason for a process of its own."""
    project.environment["AFFIDAVIT_TEST_DEAF"] = "1"
    assert _count(project, os.killpg, signal.SIGTERM) == 2


def test_the_witness_answers_for_each_signal_once() -> None:
    signals = frozenset({signal.SIGUSR1})
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        witness = Witness(signals)
        os.kill(witness.pid, signal.SIGUSR1)
        assert witness.shares(signal.SIGUSR1)
        assert not witness.shares(signal.SIGUSR1)
        witness.dismiss()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def test_the_witness_leaves_with_a_supervisor_that_is_killed(project: Project) -> None:
    supervisor = project.start("sleep", "3")
    wait_for(lambda: len(_group(supervisor.pid)) == 3)
    (witness,) = [pid for pid in _group(supervisor.pid) if pid != supervisor.pid and _name(pid) != b"sleep\n"]
    supervisor.kill()
    supervisor.wait(10)
    wait_for(lambda: witness not in _group(supervisor.pid), seconds=5)
    assert [pid for pid in _group(supervisor.pid) if _name(pid) == b"sleep\n"], "the command went with it"


def _group(pgid: int) -> list[int]:
    """Return the living processes of a group."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in pids if (identify(pid) is not None and _is_in(pid, pgid))]


def _is_in(pid: int, pgid: int) -> bool:
    try:
        return os.getpgid(pid) == pgid
    except ProcessLookupError:
        return False


def _name(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/comm").read_bytes()
    except OSError:
        return b""


def test_a_signal_that_the_user_has_us_ignore_is_ignored(project: Project) -> None:
    words = ["nohup", sys.executable, str(Path(__file__).parent / "supervised.py"), str(project.root), "--"]
    running = subprocess.Popen(
        [*words, "sleep", "1"], cwd=project.root, env=bare_environment(), stderr=subprocess.DEVNULL, process_group=0
    )
    wait_for(lambda: len(_group(running.pid)) == 3)
    os.killpg(running.pid, signal.SIGHUP)
    assert running.wait(20) == 0


TYPIST = """\
import os, sys, time
assert os.tcgetpgrp(0) == os.getpgrp(), "not in the foreground"
try:
    print("word:", input(), flush=True)
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted once", flush=True)
    time.sleep(0.5)
    sys.exit(5)
"""


def test_at_a_terminal_the_command_reads_what_is_typed_and_control_c_is_its_own(project: Project) -> None:
    here, there = os.openpty()
    script = project.root / "typist.py"
    script.write_text(TYPIST)
    words = [sys.executable, str(Path(__file__).parent / "supervised.py"), str(project.root), "--", sys.executable]
    running = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *words, str(script)],
        cwd=project.root,
        env=project.environment,
        stdin=there,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    os.write(here, b"hello\n")
    said = b""
    while b"word: hello" not in said:
        said += os.read(here, 1000)
    os.write(here, b"\x03")
    assert running.wait(20) == 5
    while b"interrupted once" not in said:
        said += os.read(here, 1000)
    os.close(here)
    assert b"Traceback" not in said
    (attempt,) = seal.read_sealed(project.only_run).manifest.attempts
    assert (attempt.status, attempt.exit_code, attempt.signal) == (Status.KILLED, 5, signal.SIGINT)


def test_the_live_call_comes_once_with_the_live_facts_in_the_run_folder(project: Project) -> None:
    seen: list[bool] = []

    def on_live(folder: Path) -> str:
        seen.append(any('"live"' in path.read_text() for path in folder.glob("journal.*.jsonl")))
        return ""

    assert supervise.supervise(project.prepare(*project.light("--steps=60")), on_live=on_live).code == 0
    assert seen == [True]


def test_a_checklist_that_breaks_is_a_note_and_not_the_end(project: Project) -> None:
    def on_live(folder: Path) -> str:
        raise RuntimeError("no colour")

    ended = supervise.supervise(project.prepare(*project.light("--steps=60")), on_live=on_live)
    assert ended.code == 0 and project.step() == 60
    assert any("no colour" in note or "RuntimeError" in note for note in ended.notes)


def test_a_callback_that_hangs_keeps_no_signal_from_the_command(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companion, "LEAVE_SECONDS", 0.2)
    release: list[int] = []

    def on_live(folder: Path) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(lambda: release, seconds=20)
        return ""

    ended = supervise.supervise(project.prepare(*project.light("--steps=4000")), on_live=on_live)
    release.append(1)
    assert (ended.status, ended.code) == (Status.KILLED, 143)


def test_a_verdict_ends_the_command_as_a_person_would(project: Project) -> None:
    prepared = project.prepare(*project.light("--steps=4000", "--term=graceful"))
    ended = supervise.supervise(prepared, on_live=lambda folder: "stopped by --stop-on lock-holds")
    assert ended.status is Status.STOPPED and ended.code == 0
    assert ended.notes == ("stopped by --stop-on lock-holds",)
    assert 2 <= project.step() < 4000


def test_what_does_not_leave_when_it_is_told_to_is_killed_with_all_it_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "STOP_GRACE_SECONDS", 0.5)
    light = " ".join(project.light("--steps=4000"))
    prepared = project.prepare("bash", "-c", f"trap '' TERM; (trap '' TERM; {light}) & wait; wait; wait")
    ended = supervise.supervise(prepared, on_live=lambda folder: "enough")
    assert (ended.status, ended.code) == (Status.STOPPED, 137)
    step = project.step()
    time.sleep(0.2)
    assert project.step() == step, "the training outlived the command that was ended"
