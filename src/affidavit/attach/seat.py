"""A seat: one instrument in a session, called under guard. Whatever it does is its own problem, never the run's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from affidavit.attach.guard import ERRORS_ALLOWED, TimeLimitPassed, describe, run_limited
from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Moment
from affidavit.attach.neutral import Keeper, neutral
from affidavit.fact.observation import Cause


@dataclass
class Seat:
    """An instrument, its voice, and whether it is still trusted.

    An error becomes Unknown(INSTRUMENT_FAILED) in each term it has not spoken of, and the second one switches it off;
    a time limit does so at once. ``note`` is for what could not even become that.
    """

    instrument: Instrument
    emit: Emit
    keepers: Sequence[Keeper]
    note: Callable[[str], None]
    errors: int = 0
    off: bool = False
    is_slow: bool = False

    def awaits(self, kind: type[Moment]) -> bool:
        """Say whether the instrument listens to this kind of moment."""
        return any(kind is wanted for wanted, _, _ in type(self.instrument).listeners())

    def hear(self, moment: Moment, *, step: int, sampled: bool) -> None:
        """Hand a moment to each of the instrument's listeners that wants it now."""
        for kind, sampled_only, name in type(self.instrument).listeners():
            if type(moment) is kind and (sampled or not sampled_only) and not self.off:
                self.emit.step = step
                self._call(functools.partial(getattr(self.instrument, name), moment, self.emit))

    def give_up(self, cause: Cause, why: str, *, overrule: bool = False) -> None:
        """Say why each term is unknown that the instrument has not spoken of, or every one of its terms."""
        for term in self.emit.emits:
            if overrule or term not in self.emit.spoken:
                self.emit.unknown(term, cause, why)

    def switch_off(self, cause: Cause, why: str) -> None:
        """Call the instrument no more: what it has not said it will not say."""
        self.off = True
        self._blame(cause, why)
        self.release()

    def release(self) -> None:
        """Let the instrument go of what it holds in the run."""
        try:
            run_limited(self.instrument.budget_seconds, self.instrument.release)
        except (Exception, TimeLimitPassed) as error:  # noqa: BLE001  there is nobody left to tell but the note
            self.note(f"{self.instrument.name} did not let go: {describe(error)}")

    def _call(self, handle: Callable[[], None]) -> None:
        name, seconds = self.instrument.name, self.instrument.limit(self.emit)
        try:
            # The limit is inside: it must not cut off the restoring of what was kept.
            with neutral(tuple(self.keepers)):
                run_limited(seconds, handle)
        except TimeLimitPassed:
            self.off = self.is_slow = True
            self._blame(Cause.TIME_LIMIT, f"{name} passed {seconds:g} s")
        except Exception as error:  # noqa: BLE001  it becomes an Unknown with its cause, never the run's problem
            self.errors += 1
            self.off = self.errors >= ERRORS_ALLOWED
            self._blame(Cause.INSTRUMENT_FAILED, f"{name}: {describe(error)}")
        if self.off:
            self.release()

    def _blame(self, cause: Cause, why: str) -> None:
        try:
            self.give_up(cause, why)
        except Exception as error:  # noqa: BLE001  as above
            self.note(f"{self.instrument.name} could not even fail: {describe(error)}")
