"""The session: takes moments from adapters, hands them to instruments under guard, writes what these say.

One a process. It opens its journal at the first moment that comes from a live training object, because importing
torch, or even building an Accelerator, is no sign of training: launchers, agents, loader and compile workers do both.

    adapter → Session ┬ Bench      every instrument of this training in its seat, under guard
                      ├ Lookout    what is read before each step, and when the instruments that last look again
                      ├ Hooks      what adapters left to be called
                      ├ Chronicle  the journal
                      └ Heartbeat  the step that was last taken

Hot path: after the sampled step a step costs some comparisons, one heartbeat and the pulses of lasting instruments.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.attach.adapter import Describer, Standing, describe_training
from affidavit.attach.bench import Bench
from affidavit.attach.chronicle import Chronicle
from affidavit.attach.guard import describe, shielded
from affidavit.attach.heartbeat import Heartbeat, Phase
from affidavit.attach.hooks import Hooks
from affidavit.attach.instrument import Instrument, process_identity
from affidavit.attach.launch import Launch
from affidavit.attach.lookout import Lookout
from affidavit.attach.moment import Moment, Saved, StepBegin, StepEnd, TrainBegin, TrainEnd, Written
from affidavit.attach.neutral import Keeper
from affidavit.fact import folder
from affidavit.fact.observation import Cause
from affidavit.fact.term import Vocabulary

__all__ = ["EPISODES_WATCHED", "SAMPLED_STEP", "Describer", "Session", "Standing"]

SAMPLED_STEP = 2
"""The first step pays for warm-up and compilation; the second is what the run will be."""
EPISODES_WATCHED = 20
"""A script that trains more often than this makes optimizers as others make batches; it must not pay for each."""


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

    def __post_init__(self) -> None:
        self.episode = 0
        self.driver = ""
        self.live = True
        self.sampled_step = SAMPLED_STEP
        self._count = 0
        self._step = 0
        self._told = False
        self._detached = False
        self._chronicle = Chronicle()
        self._heartbeat = Heartbeat()
        self._lookout = Lookout(self._chronicle.note)
        self._hooks = Hooks(self._chronicle.note)
        self.at_live, self.at_fork = self._hooks.at_live, self._hooks.at_fork
        self._bench = Bench(
            self.launch, self.vocabulary, self.instruments, self.keepers, self._lookout.pulses, self._chronicle
        )
        self._bench.seat(self.episode)
        os.register_at_fork(before=self._hooks.before_fork, after_in_child=self.detach)

    # --- steps: the hot path ----------------------------------------------------------------------------------

    @property
    def counts(self) -> bool:
        """Whether steps are counted: until the sampled one is over, and in a rehearsal to its end."""
        return self.live or self.launch.mode == "rehearsal"

    @property
    def sampling(self) -> bool:
        """Whether the step that is running is the sampled one."""
        return self.live and self._count == self.sampled_step

    def pulse(self, step: int) -> None:
        """Say that the optimizer is about to take step ``step``: a value that lasts for one step is read now."""
        self._lookout.pulse(step)

    def beat(self, step: int) -> None:
        """Say no more than that step ``step`` was taken; all that a step costs once none is counted any more."""
        self._heartbeat.beat(step)
        if self._lookout.is_due(step) and not self.live:
            self._lookout.look(self._bench.seats)

    def step_begin(self, step: int) -> None:
        """Say that optimizer step ``step`` begins; it costs a comparison once the sampled step is over."""
        if self.counts:
            if not self._count:
                self._lookout.count_from(step)
            self._count += 1
            self._step = step
            if self.live:
                self.fire(StepBegin(step=step))

    def step_end(self, step: int) -> None:
        """Say that the optimizer has taken step ``step``: beat, and close the live window after the sampled one."""
        self.beat(step)
        if self.live:
            self.fire(StepEnd(step=step))
            if self._count >= self.sampled_step:
                self._close_live()
        if self.launch.mode == "rehearsal" and self._count >= max(self.launch.rehearsal_steps, self.sampled_step):
            self._leave_rehearsal()

    # --- moments ----------------------------------------------------------------------------------------------

    def fire(self, moment: Moment) -> None:
        """Hand a moment to every instrument that listens. Raises nothing but what the user's own signals raise."""
        if self._detached:
            return
        if isinstance(moment, TrainBegin):
            self._begin(moment)
        elif isinstance(moment, Saved):
            self.leaves(Phase.CHECKPOINT)
        self._hooks.heard(type(moment))
        self._bench.hear(moment, step=self._step, sampled=self._count == self.sampled_step)
        if isinstance(moment, TrainBegin):
            describe_training(moment, self, (describer for _, describer in self.describers))
        if isinstance(moment, TrainEnd):
            self._end(moment)
        self._say_if_silenced()

    def listens(self, kind: type[Moment]) -> bool:
        """Say whether any instrument still wants this kind of moment, so that an adapter can spare its cost."""
        return self.live and not self._detached and self._bench.listens(kind)

    def after(self, kind: type[Moment], count: int, then: Callable[[], None]) -> None:
        """Call ``then`` when the ``count``-th moment of this kind comes, before it is handed on."""
        self._hooks.after(kind, count, then)

    def unwatched(self, kind: type[Moment], cause: Cause, why: str, *, overrule: bool = False) -> None:
        """Say for every instrument that waits for this kind of moment that it will not come, and why.

        ``overrule`` takes back what was said on the word of another adapter, which knew less.
        """
        self._bench.unwatched(kind, cause, why, overrule=overrule)

    def attempt(self, kind: type[Moment], start: Callable[[], None]) -> None:
        """Start what will fire a kind of moment; where that fails, what waits for it is Unknown with this cause."""
        try:
            start()
        except Exception as error:  # noqa: BLE001  an adapter's error is ours, never the run's
            self.unwatched(kind, Cause.INSTRUMENT_FAILED, f"{kind.__name__} cannot be watched: {describe(error)}")

    def shielded(self, call: Callable[..., None]) -> Callable[..., None]:
        """Return an adapter's entry point that keeps its errors from the run; they are noted."""
        return shielded(call, self.note)

    def note(self, text: str) -> None:
        """Say something to whoever reads the record, also before there is a journal."""
        self._chronicle.note(text)

    # --- what the loop does besides steps ---------------------------------------------------------------------

    def enters(self, phase: Phase) -> None:
        """Say that the loop is about something else from now on (an evaluation, a checkpoint); it may take longer."""
        self._heartbeat.enter(phase)

    def leaves(self, phase: Phase) -> None:
        """Say that this is over and steps come again, whether or not it was said when it began."""
        self._heartbeat.over(phase)

    def look_soon(self) -> None:
        """Say that something is over (a validation) after which a model may be another: look after the next step."""
        self.leaves(Phase.EVALUATION)
        self._lookout.soon()

    @property
    def keeps(self) -> bool:
        """Whether a model that is saved now is one of this run: a process that never trained saves nothing of ours."""
        return self._chronicle.keeps and not self._detached

    def wrote(self, moment: Written) -> None:
        """Write down where a model was saved, and leave a mark beside it, also when no training goes on any more.

        It is handed to no instrument: a save may come from any thread.
        """
        if self.keeps:
            self._heartbeat.over(Phase.CHECKPOINT, is_part=True)
            self._chronicle.saved(moment, self.launch, step=self._lookout.beaten)

    # --- its life ---------------------------------------------------------------------------------------------

    @property
    def welcomes(self) -> bool:
        """Whether another training would still be watched."""
        return not self._detached and self.episode < EPISODES_WATCHED

    def detach(self) -> None:
        """Fall silent for ever in this process; a forked child is not the run."""
        self._detached = True
        self.live = False
        self._lookout.close()
        self._chronicle.abandon()
        self._heartbeat.stop()

    def close(self, reason: str) -> None:
        """Say that this process ends in an orderly way, and fall silent."""
        if self._chronicle.is_open and not self._detached:
            self._lookout.look(self._bench.seats, last=True)
            # Not its exit code: that is known to nobody in here.
            uncaught = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
            self._chronicle.close(reason, raised=type(uncaught).__name__ if uncaught is not None else "")
            self.detach()

    def _begin(self, moment: TrainBegin) -> None:
        """Open the journal, or begin the episode anew: inside one outer ``train()`` the last beginning wins."""
        if self._count:
            self._let_go()
            self._seat_anew()
        self._count = self._step = 0
        self.live = self.welcomes
        if self.live:
            self._lookout.begin(moment)
        else:
            self.note(f"training {self.episode + 1} and those after it are not watched")
        self.driver = moment.driver
        self.sampled_step = min(SAMPLED_STEP, moment.planned_steps) if moment.planned_steps > 0 else SAMPLED_STEP
        if not self._chronicle.is_open:
            self._open()
        self.enters(Phase.COMPILE)
        standing = self.standing()
        self._chronicle.write("bound", rank=standing.rank, world=standing.world, backend=standing.backend)
        self._chronicle.write("episode", number=self.episode, driver=moment.driver)
        self._chronicle.catch_up()

    def _open(self) -> None:
        emits = sorted(term for instrument in self.instruments for term in instrument.emits)
        self._chronicle.open(self.launch, {**self.details, "emits": emits})
        self._heartbeat = Heartbeat(folder.heartbeat(Path(self.launch.spool), process_identity(), self.launch.attempt))
        self._say_if_silenced()

    def _close_live(self) -> None:
        """End the live window: what an instrument has not said by now it did not see."""
        self._hooks.end_live()
        self._bench.end_live(self._why_unseen(), f"nothing showed it by the end of step {self._step}")
        self._lookout.live_until(self._step)
        self.live = False
        self._chronicle.write("live", step=self._step)
        self._say_if_silenced()

    def _why_unseen(self) -> Cause:
        if self._count < self.sampled_step:
            return Cause.NOT_REACHED
        early = sys.modules.get("_affidavit_early")
        return Cause.ATTACHED_LATE if early is not None and early.listing.late else Cause.ABSENT

    def _end(self, moment: TrainEnd) -> None:
        if self.live:
            self._close_live()
        self._lookout.look(self._bench.seats, last=True)
        self.enters(Phase.LOAD)
        self._chronicle.write("episode", number=self.episode, driver=self.driver, ended=moment.error or "returned")
        self.episode += 1
        self._seat_anew()

    def _let_go(self) -> None:
        """Drop everything that a step cut short still holds in the run."""
        self._hooks.end_live()
        self._bench.release()

    def _seat_anew(self) -> None:
        self._lookout.close()
        self._bench.seat(self.episode)

    def _say_if_silenced(self) -> None:
        silenced = self._chronicle.silenced
        if self._told or not silenced:
            return
        self._told = True
        self._let_go()
        self._lookout.close()
        self.live = False
        with suppress(OSError, ValueError):
            sys.stderr.write(f"affidavit: the journal fell silent ({silenced}); the run goes on.\n")

    def _leave_rehearsal(self) -> None:
        """End this rank here and now, so that no ``save_model``, ``push_to_hub`` or ``finally:`` of the script runs."""
        self._lookout.look(self._bench.seats, last=True)
        self._chronicle.close("rehearsed")
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)
