"""Runs the command as if nobody watched, and says how it ended.

Standard input, output and error, open files, process group, terminal and signal mask are those the command would have
had without us, so nothing of what it prints passes through here, and the last lines it printed are not on the record.
A signal that reached us alone is passed on once; one that reached the whole group has reached the command already.

Source: critic-practitioner §1; research/anchors-mechanisms C5; signal(7).
Blind to: what the command does after it has ended (a daemon it left behind).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from affidavit.fact.errors import refusal
from affidavit.record.manifest import Status
from affidavit.run import attempt as attempts
from affidavit.run.attempt import Ended
from affidavit.run.command import NOT_EXECUTABLE, CommandError
from affidavit.run.companion import TICK_SECONDS, Companion, OnLive
from affidavit.run.ending import WARNINGS, Ending, Warned, ending
from affidavit.run.launch import Prepared
from affidavit.run.memory import out_of_memory_kills
from affidavit.run.process import Identity, Life, descendants, identify, life, send
from affidavit.run.spool import publish
from affidavit.run.witness import Witness

QUIET_TICK_SECONDS = 5.0
STOP_GRACE_SECONDS = 30.0
"""How long a command that is told to end may take to save and leave before it is killed with all it started."""


def supervise(prepared: Prepared, *, on_live: OnLive | None = None) -> Ended:
    """Return how the command ended, once it has; ``ended`` and everything it wrote down are in the run folder then.

    ``code`` is the command's own exit code as a shell gives it, whatever happened to us. ``on_live`` is called once
    when every rank of this node is past the sampled step, in a thread of its own; what it returns, unless it is empty,
    is why the command is told to end.

    Raises:
        CommandError: the command could not be started.
    """
    companion = Companion(prepared, on_live)
    kills = out_of_memory_kills()
    with _signals_held() as held:
        witness = Witness(held.signals)
        try:
            child = _start(prepared, held.mask)
            companion.start()
            watch = _Watch(child, held.signals, witness, companion)
            exit_code = watch.wait()
        finally:
            witness.dismiss()
        at = time.time()
        companion.finish()
        came = ending(
            exit_code,
            warned=tuple(watch.warned),
            memory_kills=out_of_memory_kills() - kills,
            scheduler=prepared.start.scheduler,
            at=at,
            stopped=watch.stopped,
        )
        return _finish(prepared, replace(came, notes=(*came.notes, *companion.notes)))


def refuse(prepared: Prepared, why: str) -> Ended:
    """Say that the attempt ended before its command was started."""
    problems = publish(prepared.spool, prepared.folder)
    return _finish(prepared, Ending(status=Status.REFUSED, code=1, signal=0, notes=(why, *problems)))


class _Held:
    """The signals that wait for us, and the mask that the command shall have."""

    def __init__(self) -> None:
        ignored = {number for number in WARNINGS if signal.getsignal(number) is signal.SIG_IGN}
        self.signals = frozenset(WARNINGS - ignored)
        self.mask = frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, self.signals | {signal.SIGCHLD}))


@contextmanager
def _signals_held() -> Iterator[_Held]:
    """Hold the signals that concern the command until it has ended; one that came too late for it is let go of.

    A signal that the user has us ignore (``nohup``) stays ignored, by us and by the command.
    """
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    held = _Held()
    try:
        yield held
    finally:
        while signal.sigtimedwait(held.signals | {signal.SIGCHLD}, 0) is not None:
            continue
        signal.pthread_sigmask(signal.SIG_SETMASK, held.mask)
        signal.signal(signal.SIGCHLD, before or signal.SIG_DFL)


def _start(prepared: Prepared, mask: frozenset[int]) -> Identity:
    """Start the command, with the signals that Python itself ignores put back to what a shell gives."""
    command = prepared.command
    try:
        pid = os.posix_spawn(
            command.executable,
            command.argv,
            prepared.environment,
            setsigmask=mask,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )
    except OSError as error:
        why = f"command {command.argv[0]!r}: {error.strerror or error}"
        _finish(prepared, Ending(status=Status.REFUSED, code=NOT_EXECUTABLE, signal=0, notes=(why,)))
        raise CommandError(
            refusal(
                subject=f"command {command.argv[0]!r}",
                expected="a file that the kernel can execute",
                saw=error.strerror or str(error),
                means="Nothing was started; the attempt is on record as refused.",
                action='Give it a first line "#!…", or put its interpreter in front.',
                unaffected="the project; no file outside the run folder was written",
            ),
            NOT_EXECUTABLE,
        ) from error
    gone = replace(prepared.start.supervisor, pid=pid, start=0)  # it ended already; only we can still ask for it
    child = identify(pid) or gone
    for place in (prepared.spool, prepared.folder):
        with suppress(OSError):
            attempts.write_child(place, prepared.start, child)
    return child


class _Watch:
    """Waits for the command, passes signals on, and ends it when the companion says so."""

    def __init__(
        self, child: Identity, signals: frozenset[signal.Signals], witness: Witness, companion: Companion
    ) -> None:
        self.warned: list[Warned] = []
        self.stopped = ""
        self._child = child
        self._signals = signals
        self._witness = witness
        self._companion = companion
        self._doomed: tuple[Identity, ...] = ()
        self._deadline = 0.0

    def wait(self) -> int:
        """Return the command's exit code, negative for a signal."""
        awaited = self._signals | {signal.SIGCHLD}
        while True:
            stopping = bool(self.stopped)
            tick = QUIET_TICK_SECONDS if self._companion.is_settled and not stopping else TICK_SECONDS
            heard = signal.sigtimedwait(awaited, tick)
            if heard is not None and heard.si_signo != signal.SIGCHLD:
                self._pass_on(heard.si_signo)
            pid, status = os.waitpid(self._child.pid, os.WNOHANG)
            if pid:
                self._end_stragglers()
                return os.waitstatus_to_exitcode(status)
            if self._companion.verdict and not stopping:
                self._stop(self._companion.verdict)
            elif stopping and time.monotonic() > self._deadline:
                self._kill((*self._doomed, *descendants(self._child.pid)))

    def _pass_on(self, number: int) -> None:
        self.warned.append(Warned(number, time.time()))
        if not self._witness.shares(number):
            os.kill(self._child.pid, number)  # not reaped yet, so the number is still its own

    def _stop(self, why: str) -> None:
        """Tell the command to end, as a person would; what it started is remembered while it is still its child."""
        self.stopped = why
        self._doomed = descendants(self._child.pid)
        self._deadline = time.monotonic() + STOP_GRACE_SECONDS
        os.kill(self._child.pid, signal.SIGTERM)

    def _end_stragglers(self) -> None:
        """Wait for what a command that we ended had started, and kill what does not leave."""
        while any(life(one) is Life.ALIVE for one in self._doomed) and time.monotonic() < self._deadline:
            time.sleep(TICK_SECONDS)
        self._kill(self._doomed)

    def _kill(self, processes: tuple[Identity, ...]) -> None:
        for process in processes:
            send(process, signal.SIGKILL)


def _finish(prepared: Prepared, came: Ending) -> Ended:
    """Write down how it ended, in the spool first: the run folder may be full, and the spool is found again."""
    ended = Ended(
        status=came.status,
        code=came.code,
        signal=came.signal,
        ended=attempts.now(),
        notes=came.notes,
    )
    for place in (prepared.spool, prepared.folder):
        try:
            attempts.write_ended(place, prepared.start, ended)
        except OSError as error:
            ended = replace(ended, notes=(*ended.notes, f"{place}: {error.strerror or error}"))
    return ended
