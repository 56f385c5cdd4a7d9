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
from run_world import Project

from affidavit.fact.observation import Cause, Unknown
from affidavit.record import seal
from affidavit.record.manifest import Status, to_record
from affidavit.run import supervise
from affidavit.run.command import CommandError
from affidavit.run.sealing import Running, ensure_sealed

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
