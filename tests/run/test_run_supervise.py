"""The command runs as if nobody watched, its exit code is its own, and how it ended is said in one word."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_world import Project, bare_environment, wait_for

from affidavit.fact.observation import Cause, Unknown
from affidavit.record import seal
from affidavit.record.manifest import Status, to_record
from affidavit.run import companion, supervise
from affidavit.run.command import CommandError
from affidavit.run.launch import RunFolderError
from affidavit.run.process import identify
from affidavit.run.sealing import Running, ensure_sealed
from affidavit.run.witness import Witness

PROBE = """\
grep -E '^(SigBlk|SigIgn|SigCgt|ShdPnd|Seccomp|CapEff|NoNewPrivs):' /proc/self/status
readlink /proc/$$/fd/* 2>/dev/null | grep -v /proc/ | sort
cut -d' ' -f6,7 /proc/$$/stat
umask; pwd; ulimit -a; nice
env | grep -v -E '^(PYTHONPATH|AFFIDAVIT_LAUNCH|_|SHLVL|OLDPWD)=' | sort
cat
"""


def _probed(project: Project, words: list[str]) -> bytes:
    with (project.root / "beside").open("w") as beside:
        done = subprocess.run(
            [*words, "/bin/bash", "-c", PROBE],
            cwd=project.root,
            env=project.environment,
            input=b"typed by the user",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[beside.fileno()],
            timeout=60,
            check=True,
        )
    return done.stdout.replace(b"pipe:[", b"pipe:")


def _without_numbers(text: bytes) -> list[bytes]:
    """Leave out what no two starts share: numbers of pipes, and signals 32 and 33, which are the C library's own."""
    own = re.compile(rb"(?<=SigIgn:\t[0-9a-f]{7})[0-9a-f]{2}")
    text = own.sub(lambda found: b"%02x" % (int(found[0], 16) & ~0x18), text)
    return [line for line in text.splitlines() if not line.startswith(b"pipe:")]


def test_the_command_finds_what_it_would_find_without_us(project: Project) -> None:
    """Signals, open files, session, terminal, limits, umask, environment and standard input, but for our two names."""
    bare = _probed(project, [])
    watched = _probed(project, [sys.executable, str(Path(__file__).parent / "supervised.py"), str(project.root), "--"])
    assert _without_numbers(watched) == _without_numbers(bare)
    assert b"typed by the user" in watched and str(project.root / "beside").encode() in watched


def test_the_command_stays_in_our_process_group(project: Project) -> None:
    script = "import os, sys; sys.exit(os.getpgrp() == os.getpgid(os.getppid()) and 7)"
    assert project.run(sys.executable, "-c", script) == 7


@pytest.mark.parametrize(
    ("argv", "code", "status", "number"),
    [
        ((sys.executable, "-c", "import sys; sys.exit(3)"), 3, Status.FAILED, 0),
        ((sys.executable, "-c", "1/0"), 1, Status.FAILED, 0),
        (("sh", "-c", "kill -9 $$"), 137, Status.KILLED, signal.SIGKILL),
        (("sh", "-c", "sh -c 'kill -9 $$'; exit $?"), 137, Status.KILLED, signal.SIGKILL),
        (("sh", "-c", "kill -SEGV $$"), 139, Status.KILLED, signal.SIGSEGV),
        (("true",), 0, Status.FINISHED, 0),
    ],
    ids=["exit 3", "crash", "killed", "killed below a shell", "segmentation fault", "never trains"],
)
def test_the_exit_code_is_the_commands_own(
    project: Project, argv: tuple[str, ...], code: int, status: Status, number: int
) -> None:
    assert project.start(*argv, stderr=subprocess.DEVNULL).wait(30) == code
    (attempt,) = seal.read_sealed(project.only_run).manifest.attempts
    assert (attempt.status, attempt.exit_code, attempt.signal) == (status, code, number)


@pytest.mark.parametrize(
    ("name", "code", "saw"),
    [
        ("no-such-program", 127, "no such file"),
        ("./no-such-program", 127, "no such file"),
        ("./data.txt", 126, "without the right to be executed"),
        (".", 126, "a folder"),
        ("", 127, "no such file"),
    ],
)
def test_a_command_that_cannot_be_started_is_one_clear_error_and_leaves_nothing(
    project: Project, name: str, code: int, saw: str
) -> None:
    (project.root / "data.txt").write_text("text")
    if name == ".":
        name = "./."
    with pytest.raises(CommandError) as refused:
        project.prepare(name)
    assert refused.value.code == code
    assert saw in str(refused.value) and "Not affected:" in str(refused.value)
    assert not project.runs.exists()


def test_a_file_that_the_kernel_cannot_execute_is_refused_and_on_record(project: Project) -> None:
    script = project.root / "script"
    script.write_text("no first line\n")
    script.chmod(0o755)
    prepared = project.prepare("./script")
    with pytest.raises(CommandError) as refused:
        supervise.supervise(prepared)
    assert refused.value.code == 126
    found = ensure_sealed(prepared.folder)
    assert not isinstance(found, Running) and found.status is Status.REFUSED


def test_a_gigabyte_on_standard_output_costs_the_supervisor_nothing(project: Project) -> None:
    prepared = project.prepare("sh", "-c", "head -c 1G /dev/zero > /dev/null; head -c 1G /dev/zero >&1")
    before = resource.getrusage(resource.RUSAGE_SELF)
    saved = os.dup(1)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        ended = supervise.supervise(prepared)
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(sink)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert ended.code == 0
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_a_command_that_forks_is_over_when_it_is_over(project: Project) -> None:
    began = time.monotonic()
    assert project.run("sh", "-c", "sleep 5 & exit 4") == 4
    assert time.monotonic() - began < 4


# --- signals ---------------------------------------------------------------------------------------------------

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
print("word:", input(), flush=True)
try:
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


# --- the live moment -------------------------------------------------------------------------------------------


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
    assert (ended.status, ended.code) == ("KILLED", 143)


def test_a_verdict_ends_the_command_as_a_person_would(project: Project) -> None:
    prepared = project.prepare(*project.light("--steps=4000", "--term=graceful"))
    ended = supervise.supervise(prepared, on_live=lambda folder: "stopped by --stop-on lock-holds")
    assert ended.status == "REFUSED" and ended.code == 0
    assert ended.notes == ("stopped by --stop-on lock-holds",)
    assert 2 <= project.step() < 4000


def test_what_does_not_leave_when_it_is_told_to_is_killed_with_all_it_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "STOP_GRACE_SECONDS", 0.5)
    light = " ".join(project.light("--steps=4000"))
    prepared = project.prepare("bash", "-c", f"trap '' TERM; (trap '' TERM; {light}) & wait; wait; wait")
    ended = supervise.supervise(prepared, on_live=lambda folder: "enough")
    assert (ended.status, ended.code) == ("REFUSED", 137)
    step = project.step()
    time.sleep(0.2)
    assert project.step() == step, "the training outlived the command that was ended"


# --- nothing seen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "cause", "why"),
    [
        ((sys.executable, "-c", "pass"), Cause.NOTHING_TRAINED, "attached"),
        ((sys.executable, "-I", "-c", "pass"), Cause.NOTHING_ATTACHED, '"-I" starts Python without'),
        (("env", "-i", sys.executable, "-c", "pass"), Cause.NOTHING_ATTACHED, "empties the environment"),
        (("true",), Cause.NOTHING_ATTACHED, "no Python of this command"),
    ],
)
def test_silence_has_a_cause_that_helps(project: Project, argv: tuple[str, ...], cause: Cause, why: str) -> None:
    assert project.run(*argv) == 0
    record = to_record(seal.read_sealed(project.only_run).manifest)
    states = {fact.state for fact in record.facts if fact.name.startswith("attention.")}
    assert states
    for state in states:
        assert isinstance(state, Unknown) and state.cause is cause and why in state.why


# --- disks -----------------------------------------------------------------------------------------------------


def _mounted(place: Path, options: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("mount needs root")
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mount needs root")


def test_a_run_folder_that_cannot_be_written_is_said_before_anything_is_started(project: Project) -> None:
    place = project.root / "locked"
    _mounted(place, "size=64k")
    try:
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        project.environment["AFFIDAVIT_DIR"] = str(place)
        with pytest.raises(RunFolderError, match="Read-only file system"):
            project.prepare("touch", str(project.root / "started"))
        assert not (project.root / "started").exists()
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_does_not_end_the_run_and_loses_nothing(project: Project) -> None:
    place = project.root / "small"
    _mounted(place, "size=128k")
    try:
        project.environment["AFFIDAVIT_DIR"] = str(place)
        prepared = project.prepare(*project.light("--steps=60"))
        with (place / "filler").open("wb") as filler, pytest.raises(OSError, match="No space"):
            filler.write(b"x" * 1_000_000)
        ended = supervise.supervise(prepared)
        assert (ended.code, ended.status) == (0, "FINISHED")
        assert any("No space left on device" in note for note in ended.notes)
        (place / "filler").unlink()
        found = ensure_sealed(prepared.folder)
        assert not isinstance(found, Running)
        assert (found.status, found.attempts[0].last_step) == (Status.FINISHED, 60)
    finally:
        subprocess.run(["umount", str(place)], check=True)
