"""What happens to decoys: each mishap with the one word that a watch must have for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.attach.heartbeat import Heartbeat
from affidavit.fact import folder as names
from affidavit.fact.journal import Journal
from affidavit.run import attempt as attempts
from affidavit.run.liveness.decoy import NAMESPACED, Decoy, popen
from affidavit.run.liveness.verdict import Liveness
from affidavit.run.process import descendants, identify

_TRIES = 40
_LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
_PR_SET_NAME = 15


@dataclass(frozen=True, kw_only=True)
class Mishap:
    """A kind of decoy: what is done to it, and what it must be called then."""

    name: str
    how: str
    expected: Liveness
    kind: str = "loop"
    is_alone: bool = False
    happens: Callable[[Decoy], str] = lambda decoy: ""


def _killed(decoy: Decoy) -> str:
    decoy.kill()
    return ""


def _left_a_zombie(decoy: Decoy) -> str:
    decoy.kill(reaped=False)
    return ""


def _stopped(decoy: Decoy) -> str:
    assert decoy.process is not None
    os.kill(decoy.process.pid, signal.SIGSTOP)
    return ""


def _let_go(decoy: Decoy) -> str:
    decoy.let_go()
    return ""


def _ended(decoy: Decoy) -> str:
    decoy.let_go()
    decoy.say_ended()
    return ""


def _number_reused(decoy: Decoy) -> str:
    """Let another process have the number of the one that was killed, where the kernel lets us choose numbers."""
    assert decoy.process is not None
    number = decoy.process.pid
    words = [sys.executable, "-S", "-c", "import time; time.sleep(600)", "affidavit.run.liveness.decoy_process", "loop"]
    decoy.kill()
    if os.access(_LAST_PID, os.W_OK):
        for _ in range(_TRIES):
            with suppress(OSError):
                _LAST_PID.write_text(str(number - 1))
            other = popen(words, {})
            if other.pid == number:
                decoy.process = other
                return "killed, and its number given to another process (ns_last_pid)"
            other.kill()
            other.wait()
    decoy.process = popen(words, {})
    _impersonate(decoy, decoy.process.pid)
    return "its number is another process's by now (a start time was made up: no number can be chosen here)"


def _impersonate(decoy: Decoy, number: int) -> None:
    """Write a run whose process had the number of one that lives, and began a moment before it."""
    found = identify(number)
    assert found is not None, "it was started just now"
    earlier = replace(found, start=found.start - 1)
    for path in (*decoy.spool.glob("journal.*"), *decoy.spool.glob("heartbeat.*")):
        path.unlink()
    host = "".join(letter if letter.isalnum() else "_" for letter in earlier.host)
    process = f"{host}-{earlier.pid}-{earlier.start}"
    details = {"attempt": 0, "emits": [], "boot": earlier.boot, "namespace": earlier.namespace}
    journal = Journal(names.journal(decoy.spool, process, 0), process=process, details=details)
    journal.write("bound", rank=0, world=1, backend="")
    journal.abandon()
    beats = Heartbeat(names.heartbeat(decoy.spool, process, 0))
    beats.beat(1)
    beats.stop()
    attempts.write_child(decoy.folder, decoy.start, earlier)


def _impersonated(decoy: Decoy) -> str:
    """Kill it, and let a process live that has its command line and its name, down to the last letter."""
    assert decoy.process is not None
    words = [os.fsdecode(word) for word in Path(f"/proc/{decoy.process.pid}/cmdline").read_bytes().split(b"\0")[:-1]]
    decoy.kill()
    mimic = [*words[1:]]
    script = (
        "import ctypes, time\n"
        f"ctypes.CDLL(None).prctl({_PR_SET_NAME}, b'python\\nState: R) S 1', 0, 0, 0)\n"
        "time.sleep(600)"
    )
    decoy.process = subprocess.Popen(
        [words[0], "-S", "-c", script, *mimic],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return ""


def _killed_in_its_namespace(decoy: Decoy) -> str:
    """Kill what trains in the other namespace; the command that is seen from here lives on."""
    assert decoy.process is not None
    for one in descendants(decoy.process.pid):
        if Path(f"/proc/{one.pid}/ns/pid").stat().st_ino != one.namespace:
            os.kill(one.pid, signal.SIGKILL)
    return ""


MISHAPS = (
    Mishap(name="trains", how="nothing", expected=Liveness.ALIVE),
    Mishap(name="ends well", how="exit code 0", expected=Liveness.FINISHED, kind="exit0", happens=_ended),
    Mishap(name="ends badly", how="exit code 3", expected=Liveness.DEAD, kind="exit3", happens=_ended),
    Mishap(name="killed", how="SIGKILL", expected=Liveness.DEAD, is_alone=True, happens=_killed),
    Mishap(name="zombie", how="SIGKILL, and nobody waits", expected=Liveness.ZOMBIE, happens=_left_a_zombie),
    Mishap(name="stopped", how="SIGSTOP", expected=Liveness.STOPPED, happens=_stopped),
    Mishap(name="deadlocked", how="a lock taken twice", expected=Liveness.STALLED, kind="deadlock", happens=_let_go),
    Mishap(
        name="beating thread",
        how="a lock taken twice, and a thread that beats on",
        expected=Liveness.STALLED,
        kind="thread",
        happens=_let_go,
    ),
    Mishap(
        name="uninterruptible",
        how="a parent whose child does not begin",
        expected=Liveness.UNINTERRUPTIBLE,
        kind="uninterruptible",
        happens=_let_go,
    ),
    Mishap(name="pid reused", how="", expected=Liveness.DEAD, is_alone=True, happens=_number_reused),
    Mishap(
        name="hostile title",
        how="SIGKILL, and another process has its command line",
        expected=Liveness.DEAD,
        is_alone=True,
        happens=_impersonated,
    ),
    Mishap(
        name="other namespace",
        how="SIGKILL in a pid namespace that cannot be looked up from here",
        expected=Liveness.STALLED,
        kind=NAMESPACED,
        happens=_killed_in_its_namespace,
    ),
)
