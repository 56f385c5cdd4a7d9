"""A liveness command of the user's own, asked for a target that cannot exist: it must say dead.

Whether ``pgrep -f NAME`` matches the shell that runs it depends on the invocation and not on the text, so no linter can
tell; the exact test is to run it. It is run alone and as a step of something longer, because a shell that has nothing
else to do becomes the command, and then there is no shell left to match.

What counts as dead: an exit code that is not 0; or, with exit code 0, an output that differs from what the same command
says of a process that does live under such a name. A probe that says the same of both tells nothing apart.

Source: anchors-mechanisms C5 (self-matching pgrep by invocation, measured).
Blind to: a probe of something that is no process (a URL, a unit, a file), of which no living twin can be made here.
"""

from __future__ import annotations

import enum
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from affidavit.fact.errors import AffidavitError, refusal

VARIABLE = "AFFIDAVIT_TARGET"
PLACE = "{}"
SECONDS = 20.0
_NOT_RUN = {126: "it cannot be executed", 127: "there is no such command"}
_SHELLS = ("bash", "sh")
_DECOY = "import time\nwhile True: time.sleep(1)"
_BEGUN_SECONDS = 0.2
_STATE = re.compile(r"[RSDTZI][+<NLsl]*")
"""How ps writes what a process is about just now: it differs from one look to the next."""


class ProbeError(AffidavitError):
    """The command names no target, so nothing can be asked of it."""


class Answer(enum.Enum):
    """What a probe says of a target that cannot exist. UNPROVEN: it did not run, or not to its end."""

    DEAD = "dead"
    ALIVE = "alive"
    UNPROVEN = "nothing"


@dataclass(frozen=True, kw_only=True)
class Try:
    """One invocation, what it said, and how that is known."""

    shell: str
    answer: Answer
    why: str


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What a probe said in every shell."""

    command: str
    target: str
    tries: tuple[Try, ...]

    @property
    def exit_code(self) -> int:
        answers = [one.answer for one in self.tries]
        if Answer.ALIVE in answers:
            return 1
        return 4 if Answer.UNPROVEN in answers or not answers else 0

    @property
    def words(self) -> str:
        if self.exit_code == 1:
            return (
                "This probe says alive of something that cannot exist: it would say so of a dead run, too. "
                'Ask for a process by pid and start time ("affidavit watch"), or keep the pattern from matching itself '
                '("[t]rain.py").'
            )
        return "This probe can say dead." if self.exit_code == 0 else "Nothing was shown: the probe did not run."


@dataclass(frozen=True)
class _Said:
    code: int
    output: str


def probe(command: str) -> Probed:
    """Return what a liveness command says of a target that cannot exist.

    Raises:
        ProbeError: it names no target.
    """
    if PLACE not in command and VARIABLE not in command:
        raise ProbeError(
            refusal(
                subject=f"probe {command[:60]!r}",
                expected=f'"{PLACE}" or "${VARIABLE}" where the name of the target stands',
                saw="neither",
                means="What it looks for is there or not; nobody can see whether it would ever say dead.",
                action=f'Write it so: --probe "pgrep -f {PLACE}".',
                unaffected="everything; nothing was run",
            )
        )
    target = f"affidavit_no_such_{secrets.token_hex(6)}"
    shells = [shell for shell in _SHELLS if shutil.which(shell)]
    forms = [(f"{shell} -c", shell, False) for shell in shells] + [
        (f"{shell} -c, as one step of more", shell, True) for shell in shells
    ]
    absent = {name: _run(shell, command, target, in_more=more) for name, shell, more in forms}
    with _living(target):
        present = {name: _run(shell, command, target, in_more=more) for name, shell, more in forms}
    return Probed(
        command=command,
        target=target,
        tries=tuple(_tried(name, absent[name], present[name]) for name, _, _ in forms),
    )


def _tried(name: str, absent: _Said | str, present: _Said | str) -> Try:
    if isinstance(absent, str):
        return Try(shell=name, answer=Answer.UNPROVEN, why=absent)
    if absent.code in _NOT_RUN:
        return Try(shell=name, answer=Answer.UNPROVEN, why=f"exit code {absent.code}: {_NOT_RUN[absent.code]}")
    if absent.code:
        told = isinstance(present, _Said) and present.code == 0
        beside = "" if told else ", as of a process that lives under such a name: it may look for something else"
        return Try(shell=name, answer=Answer.DEAD, why=f"exit code {absent.code}{beside}")
    shown = f'"{absent.output.strip()[:60]}"' if absent.output.strip() else "nothing"
    if isinstance(present, _Said) and _differs(absent.output, present.output):
        return Try(shell=name, answer=Answer.DEAD, why=f"exit code 0 and {shown}, unlike of a process that lives")
    return Try(shell=name, answer=Answer.ALIVE, why=f"exit code 0 and {shown}, as of a process that lives")


def _differs(absent: str, present: str) -> bool:
    """Say whether two outputs tell a dead target from a living one: no line of one is a line of the other.

    Numbers are left out of the comparison: a probe that finds itself prints another pid each time. A lone 0 is a count.
    """
    dead, alive = _lines(absent), _lines(present)
    return dead.isdisjoint(alive) if dead else bool(alive)


def _lines(output: str) -> set[str]:
    said = (" ".join(word for word in line.split() if not _STATE.fullmatch(word)) for line in output.splitlines())
    return {line if line == "0" else re.sub(r"\d+", "#", line) for line in said if line}


def _run(shell: str, command: str, target: str, *, in_more: bool) -> _Said | str:
    """Return what a command said, or why it did not."""
    text = command.replace(PLACE, target) if VARIABLE not in command else command
    words = [shell, "-c", f"{text}\nstatus=$?; exit $status" if in_more else text]
    started = subprocess.Popen(
        words,
        env={**os.environ, VARIABLE: target},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = started.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        return f"it did not end within {SECONDS:g} s"
    return _Said(started.returncode, output)


@contextmanager
def _living(target: str) -> Iterator[None]:
    """Let a process live whose command line holds the target, as a training script's would hold its name."""
    started = subprocess.Popen([sys.executable, "-S", "-c", _DECOY, target], stdin=subprocess.DEVNULL)
    try:
        time.sleep(_BEGUN_SECONDS)
        yield
    finally:
        started.kill()
        started.wait()
