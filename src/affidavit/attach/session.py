"""The session: takes moments from adapters, hands them to instruments under guard, writes what these say.

One a process. It opens its journal at the first moment that comes from a live training object, because importing
torch, or even building an Accelerator, is no sign of training: launchers, agents, loader and compile workers do both.

Hot path: after the sampled step a step costs some comparisons, one heartbeat and the pulses of lasting instruments.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.attach.guard import TimeLimitPassed, can_limit, describe, run_limited
from affidavit.attach.heartbeat import Heartbeat, Phase
from affidavit.attach.instrument import Emit, Instrument, process_identity, process_place
from affidavit.attach.launch import Launch
from affidavit.attach.lookout import Lookout
from affidavit.attach.mark import leave
from affidavit.attach.moment import Moment, Saved, StepBegin, StepEnd, TrainBegin, TrainEnd, Unheard, Written
from affidavit.attach.neutral import Keeper, neutral
from affidavit.attach.seat import ERRORS_ALLOWED, Seat
from affidavit.fact import folder
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Cause, Observation
from affidavit.fact.term import Vocabulary

SAMPLED_STEP = 2
"""The first step pays for warm-up and compilation; the second is what the run will be."""
EPISODES_WATCHED = 20
"""A script that trains more often than this makes optimizers as others make batches; it must not pay for each."""
SLOW_ALLOWED = 3
"""So many instruments may pass their time limits in one process before no other is given the chance."""
HOOK_SECONDS = 4.0
"""The longest that an adapter may take to describe a model, or to let go at the end of the sampled step."""


MOST_SAVES = 10_000
"""A script that saves more often than this writes something else than models."""


@dataclass
class _Alarm:
    kind: type[Moment]
    left: int
    then: Callable[[], None]


@dataclass(frozen=True)
class Standing:
    """Where a process stands among its peers, as the framework says once it is known."""

    rank: int
    world: int
    backend: str = ""


@dataclass(frozen=True)
class Describer:
    """An adapter's account of one side of a training that begins.

    Where it fails, what waits for a moment that it ``shows`` is Unknown, and so are the terms in ``subjects``, whose
    request nobody heard.
    """

    describe: Callable[[TrainBegin, Session], None]
    shows: tuple[type[Moment], ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass
class Session:
    """Everything of ours that is alive in one training process."""

    launch: Launch
    vocabulary: Vocabulary
    instruments: tuple[type[Instrument], ...]
    details: dict[str, object]
    standing: Callable[[], Standing]
    keepers: list[Keeper] = field(default_factory=list)
    describers: list[tuple[int, Describer]] = field(default_factory=list)
    at_live: list[Callable[[], None]] = field(default_factory=list)
    at_fork: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.episode = 0
        self.driver = ""
        self.live = True
        self.sampled_step = SAMPLED_STEP
        self._count = 0
        self._step = 0
        self._journal: Journal | None = None
        self._pending: list[Observation] = []
        self._heartbeat: Heartbeat | None = None
        self._told = False
        self._detached = False
        self._is_slow = False
        self._saves = 0
        self._lookout = Lookout(self.note)
        self._seats: list[Seat] = []
        self._alarms: list[_Alarm] = []
        self._seat_instruments()
        os.register_at_fork(before=self._before_fork, after_in_child=self.detach)

    # --- what adapters call -----------------------------------------------------------------------------------

    def fire(self, moment: Moment) -> None:
        """Hand a moment to every instrument that listens. Raises nothing but what the user's own signals raise."""
        if self._detached:
            return
        if isinstance(moment, TrainBegin):
            self._begin(moment)
        elif isinstance(moment, Saved):
            self.leaves(Phase.CHECKPOINT)
        for alarm in self._alarms:
            alarm.left -= type(moment) is alarm.kind
            if not alarm.left:
                self._run_hook(alarm.then)
        self._alarms = [alarm for alarm in self._alarms if alarm.left > 0]
        sampled = self._count == self.sampled_step
        for seat in self._seats:
            seat.hear(moment, step=self._step, sampled=sampled)
            if seat.is_slow and not self._is_slow:
                self._cut_short()
        if isinstance(moment, TrainBegin):
            self._describe(moment)
        if isinstance(moment, TrainEnd):
            self._end(moment)
        self._say_if_silenced()

    @property
    def keeps(self) -> bool:
        """Whether a model that is saved now is one of this run: a process that never trained saves nothing of ours."""
        return self._journal is not None and not self._journal.silenced and not self._detached

    def wrote(self, moment: Written) -> None:
        """Write down where a model was saved, and leave a mark beside it, also when no training goes on any more.

        It is handed to no instrument: a save may come from any thread.
        """
        journal = self._journal
        if journal is None or not self.keeps:
            return
        self._saves += 1
        if self._saves > MOST_SAVES:
            if self._saves == MOST_SAVES + 1:
                self.note(f"saves after the first {MOST_SAVES:,} are not listed")
            return
        if self._heartbeat is not None:
            self._heartbeat.over(Phase.CHECKPOINT, is_part=True)
        step, now = self._lookout.beaten, time.time()
        mark = leave(moment, self.launch, step=step, now=now)
        said = {"path": moment.path, "form": moment.form, "step": step, "mark": mark}
        journal.write("saved", **said, began=moment.began or now, ended=now)

    def pulse(self, step: int) -> None:
        """Say that the optimizer is about to take step ``step``: a value that lasts for one step is read now."""
        self._lookout.pulse(step)

    def look_soon(self) -> None:
        """Say that something is over (a validation) after which a model may be another: look after the next step."""
        self.leaves(Phase.EVALUATION)
        self._lookout.soon()

    def enters(self, phase: Phase) -> None:
        """Say that the loop is about something else from now on (an evaluation, a checkpoint); it may take longer."""
        if self._heartbeat is not None:
            self._heartbeat.enter(phase)

    def leaves(self, phase: Phase) -> None:
        """Say that this is over and steps come again, whether or not it was said when it began."""
        if self._heartbeat is not None:
            self._heartbeat.over(phase)

    @property
    def welcomes(self) -> bool:
        """Whether another training would still be watched."""
        return not self._detached and self.episode < EPISODES_WATCHED

    def listens(self, kind: type[Moment]) -> bool:
        """Say whether any instrument still wants this kind of moment, so that an adapter can spare its cost."""
        return self.live and not self._detached and any(seat.awaits(kind) and not seat.off for seat in self._seats)

    def after(self, kind: type[Moment], count: int, then: Callable[[], None]) -> None:
        """Call ``then`` when the ``count``-th moment of this kind comes, before it is handed on."""
        self._alarms.append(_Alarm(kind, count, then))

    @property
    def sampling(self) -> bool:
        """Whether the step that is running is the sampled one."""
        return self.live and self._count == self.sampled_step

    @property
    def counts(self) -> bool:
        """Whether steps are counted: until the sampled one is over, and in a rehearsal to its end."""
        return self.live or self.launch.mode == "rehearsal"

    def step_begin(self, step: int) -> None:
        """Say that optimizer step ``step`` begins; it costs a comparison once the sampled step is over."""
        if self.counts:
            if not self._count:
                self._lookout.count_from(step)
            self._count += 1
            self._step = step
            if self.live:
                self.fire(StepBegin(step=step))

    def beat(self, step: int) -> None:
        """Say no more than that step ``step`` was taken; all that a step costs once none is counted any more."""
        if self._heartbeat is not None:
            self._heartbeat.beat(step)
        if self._lookout.is_due(step) and not self.live:
            self._lookout.look(self._seats)

    def step_end(self, step: int) -> None:
        """Say that the optimizer has taken step ``step``: beat, and close the live window after the sampled one."""
        self.beat(step)
        if self.live:
            self.fire(StepEnd(step=step))
            if self._count >= self.sampled_step:
                self._close_live()
        if self.launch.mode == "rehearsal" and self._count >= max(self.launch.rehearsal_steps, self.sampled_step):
            self._leave_rehearsal()

    def unwatched(self, kind: type[Moment], cause: Cause, why: str, *, overrule: bool = False) -> None:
        """Say for every instrument that waits for this kind of moment that it will not come, and why.

        ``overrule`` takes back what was said on the word of another adapter, which knew less.
        """
        for seat in self._seats:
            if seat.awaits(kind):
                seat.give_up(cause, why, overrule=overrule)

    def note(self, text: str) -> None:
        """Say something to whoever reads the record, also before there is a journal."""
        if self._journal is not None:
            self._journal.write("note", text=text)
        elif (early := sys.modules.get("_affidavit_early")) is not None:
            early.refuse(text)

    def shielded(self, call: Callable[..., None]) -> Callable[..., None]:
        """Return an adapter's entry point that keeps its errors from the run; they are noted."""

        errors = 0

        @functools.wraps(call)
        def shield(*args: object, **kwargs: object) -> None:
            nonlocal errors
            if errors == ERRORS_ALLOWED:
                return
            try:
                call(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  an adapter's error is ours, never the run's
                errors += 1
                self.note(f"{call.__qualname__}: {describe(error)}")

        return shield

    def attempt(self, kind: type[Moment], start: Callable[[], None]) -> None:
        """Start what will fire a kind of moment; where that fails, what waits for it is Unknown with this cause."""
        try:
            start()
        except Exception as error:  # noqa: BLE001  as above
            self.unwatched(kind, Cause.INSTRUMENT_FAILED, f"{kind.__name__} cannot be watched: {describe(error)}")

    def detach(self) -> None:
        """Fall silent for ever in this process; a forked child is not the run."""
        self._detached = True
        self.live = False
        self._lookout.close()
        if self._journal is not None:
            self._journal.abandon()
            self._journal = None
        if self._heartbeat is not None:
            self._heartbeat.stop()
            self._heartbeat = None

    def close(self, reason: str) -> None:
        """Say that this process ends in an orderly way."""
        if self._journal is not None and not self._detached:
            self._lookout.look(self._seats, last=True)
            # Not its exit code: that is known to nobody in here.
            uncaught = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
            self._journal.close(reason, raised=type(uncaught).__name__ if uncaught is not None else "")

    # --- inside -----------------------------------------------------------------------------------------------

    def _begin(self, moment: TrainBegin) -> None:
        """Open the journal, or begin the episode anew: inside one outer ``train()`` the last beginning wins."""
        if self._count:
            self._let_go()
            self._seat_instruments()
        self._count = self._step = 0
        self.live = self.welcomes
        if self.live:
            self._lookout.begin(moment)
        else:
            self.note(f"training {self.episode + 1} and those after it are not watched")
        self.driver = moment.driver
        self.sampled_step = min(SAMPLED_STEP, moment.planned_steps) if moment.planned_steps > 0 else SAMPLED_STEP
        if self._journal is None:
            self._open_journal()
        self.enters(Phase.COMPILE)
        standing = self.standing()
        journal = self._journal
        if journal is not None:
            journal.write("bound", rank=standing.rank, world=standing.world, backend=standing.backend)
            journal.write("episode", number=self.episode, driver=moment.driver)
        for seat in self._seats:
            seat.emit.episode = self.episode
        pending, self._pending = self._pending, []
        for seen in pending:
            self._write(seen)

    def _cut_short(self) -> None:
        """Switch everything off where several instruments passed their limits: then it is the machine that is slow."""
        slow = [seat.instrument.name for seat in self._seats if seat.is_slow]
        if len(slow) < SLOW_ALLOWED:
            return
        self._is_slow = True
        for seat in self._seats:
            if not seat.off:
                seat.switch_off(Cause.TIME_LIMIT, f"{', '.join(slow)} passed their limits before it")

    def _let_go(self) -> None:
        """Drop everything that a step cut short still holds in the run."""
        self._run_hooks()
        for seat in self._seats:
            seat.release()

    def _run_hooks(self) -> None:
        for hook in tuple(self.at_live):
            self._run_hook(hook)
        self.at_fork.clear()
        self._alarms.clear()

    def _run_hook(self, hook: Callable[[], None]) -> None:
        try:
            run_limited(HOOK_SECONDS, hook)
        except (Exception, TimeLimitPassed) as error:  # noqa: BLE001  what it would have shown stays unseen
            self.note(f"{hook.__module__} did not finish: {describe(error)}")

    def _before_fork(self) -> None:
        """Stop what would go on in a forked child, where nothing of ours would ever end it."""
        for hook in tuple(self.at_fork):
            self._run_hook(hook)
        self.at_fork.clear()

    def _describe(self, moment: TrainBegin) -> None:
        """Let every adapter whose framework is in this process say what it knows of the model that begins to train."""
        for _, describer in self.describers:
            try:
                with neutral(tuple(self.keepers)):
                    run_limited(HOOK_SECONDS, functools.partial(describer.describe, moment, self))
            except (Exception, TimeLimitPassed) as error:  # noqa: BLE001  what it would have shown is Unknown
                why = f"{describer.describe.__module__} could not describe the model: {describe(error)}"
                for kind in describer.shows:
                    self.unwatched(kind, Cause.INSTRUMENT_FAILED, why, overrule=True)
                for subject in describer.subjects:
                    self.fire(Unheard(subject=subject, cause=Cause.INSTRUMENT_FAILED, why=why))

    def _open_journal(self) -> None:
        process = process_identity()
        spool = Path(self.launch.spool)
        emits = sorted(term for instrument in self.instruments for term in instrument.emits)
        details = {
            **self.details,
            **process_place(),
            "attempt": self.launch.attempt,
            "began": time.time(),
            "command": hashlib.sha256("\0".join(sys.orig_argv).encode(errors="surrogateescape")).hexdigest()[:16],
            "emits": emits,
            "limited": can_limit(),
        }
        path = folder.journal(spool, process, self.launch.attempt)
        self._journal = Journal(path, process=process, details=details)
        self._heartbeat = Heartbeat(folder.heartbeat(spool, process, self.launch.attempt))
        self._say_if_silenced()

    def _end(self, moment: TrainEnd) -> None:
        if self.live:
            self._close_live()
        self._lookout.look(self._seats, last=True)
        self.enters(Phase.LOAD)
        if self._journal is not None:
            self._journal.write("episode", number=self.episode, driver=self.driver, ended=moment.error or "returned")
        self.episode += 1
        self._seat_instruments()

    def _close_live(self) -> None:
        """End the live window: what an instrument has not said by now it did not see."""
        self._run_hooks()
        for seat in self._seats:
            if not seat.instrument.lasting:
                seat.give_up(self._why_unseen(), f"nothing showed it by the end of step {self._step}")
                seat.release()
        self._lookout.live_until(self._step)
        self.live = False
        if self._journal is not None:
            self._journal.write("live", step=self._step)
        self._say_if_silenced()

    def _why_unseen(self) -> Cause:
        if self._count < self.sampled_step:
            return Cause.NOT_REACHED
        early = sys.modules.get("_affidavit_early")
        return Cause.ATTACHED_LATE if early is not None and early.listing.late else Cause.ABSENT

    def _seat_instruments(self) -> None:
        spool = Path(self.launch.spool)
        self._lookout.close()
        self._seats = [
            Seat(
                instrument=instrument(),
                emit=Emit(
                    vocabulary=self.vocabulary,
                    instrument=instrument.name,
                    emits=instrument.emits,
                    write=self._write,
                    evidence_folder=spool / folder.EVIDENCE,
                    tokens_folder=spool / folder.TOKENS,
                    tokens_policy=self.launch.tokens,
                    canary_seconds=self.launch.canary_seconds,
                    episode=self.episode,
                    pulses=self._lookout.pulses,
                ),
                keepers=self.keepers,
                note=self.note,
            )
            for instrument in self.instruments
        ]

    def _write(self, seen: Observation) -> None:
        if self._journal is None:
            self._pending.append(seen)
        else:
            self._journal.observe(seen)

    def _say_if_silenced(self) -> None:
        if self._told or self._journal is None or not self._journal.silenced:
            return
        self._told = True
        self._let_go()
        self._lookout.close()
        self.live = False
        try:
            sys.stderr.write(f"affidavit: the journal fell silent ({self._journal.silenced}); the run goes on.\n")
        except (OSError, ValueError):
            return

    def _leave_rehearsal(self) -> None:
        """End this rank here and now, so that no ``save_model``, ``push_to_hub`` or ``finally:`` of the script runs."""
        self._lookout.look(self._seats, last=True)
        if self._journal is not None:
            self._journal.close("rehearsed")
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)
