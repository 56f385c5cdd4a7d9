"""The bench: every instrument of one training, each in its seat, and what is done with all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.attach.chronicle import Chronicle
from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.launch import Launch
from affidavit.attach.moment import Moment
from affidavit.attach.neutral import Keeper
from affidavit.attach.seat import Seat
from affidavit.fact import folder
from affidavit.fact.observation import Cause
from affidavit.fact.term import Vocabulary

SLOW_ALLOWED = 3
"""So often may time limits be passed in one process before no instrument is given the chance any more."""


@dataclass
class Bench:
    """The seats of the training that goes on; the next one gets new ones."""

    launch: Launch
    vocabulary: Vocabulary
    instruments: Sequence[type[Instrument]]
    keepers: Sequence[Keeper]
    pulses: list[Callable[[int], bool]]
    chronicle: Chronicle
    seats: Sequence[Seat] = ()
    _slow: list[str] = field(default_factory=list, init=False)

    def seat(self, episode: int) -> None:
        """Seat a new instrument of each kind, for one training."""
        self.seats = [
            Seat(kind(), self._emit(kind, episode), self.keepers, self.chronicle.note) for kind in self.instruments
        ]

    def hear(self, moment: Moment, *, step: int, sampled: bool) -> None:
        """Hand a moment to every instrument that listens."""
        self._cut_short()  # those that were seated since it came to that
        for seat in self.seats:
            was_slow = seat.is_slow
            seat.hear(moment, step=step, sampled=sampled)
            if seat.is_slow and not was_slow:
                self._slow.append(seat.instrument.name)
                self._cut_short()

    def listens(self, kind: type[Moment]) -> bool:
        """Say whether any instrument still wants this kind of moment."""
        return any(seat.awaits(kind) and not seat.off for seat in self.seats)

    def unwatched(self, kind: type[Moment], cause: Cause, why: str, *, overrule: bool) -> None:
        """Say for every instrument that waits for this kind of moment that it will not come, and why."""
        for seat in self.seats:
            if seat.awaits(kind):
                seat.give_up(cause, why, overrule=overrule)

    def end_live(self, cause: Cause, why: str) -> None:
        """Dismiss every instrument that does not last: what it has not said by now it did not see."""
        for seat in self.seats:
            if not seat.instrument.lasting:
                seat.give_up(cause, why)
                seat.release()

    def release(self) -> None:
        """Let every instrument go of what it holds in the run."""
        for seat in self.seats:
            seat.release()

    def _cut_short(self) -> None:
        """Switch everything off where limits were passed too often: then it is the machine that is slow."""
        if len(self._slow) < SLOW_ALLOWED:
            return
        for seat in self.seats:
            if not seat.off:
                seat.switch_off(Cause.TIME_LIMIT, f"{', '.join(self._slow)} passed their limits before it")

    def _emit(self, kind: type[Instrument], episode: int) -> Emit:
        spool = Path(self.launch.spool)
        return Emit(
            vocabulary=self.vocabulary,
            instrument=kind.name,
            emits=kind.emits,
            write=self.chronicle.observe,
            evidence_folder=spool / folder.EVIDENCE,
            tokens_folder=spool / folder.TOKENS,
            tokens_policy=self.launch.tokens,
            canary_seconds=self.launch.canary_seconds,
            episode=episode,
            pulses=self.pulses,
        )
