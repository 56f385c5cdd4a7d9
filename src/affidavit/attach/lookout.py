"""The lookout: what is read before each step, and when the instruments that last look again.

Its hot path is two calls a step. It holds the run weakly: a run that drops its model to free memory must get it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable

from affidavit.attach.guard import describe
from affidavit.attach.moment import Look, TrainBegin
from affidavit.attach.seat import Seat
from affidavit.fact.observation import Cause


class Lookout:
    """One training: its pulses, the step that was last beaten, and the step at which to look next.

    Looks come at steps that double from where the training began, after what asks for one, and once at the end.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self.pulses: list[Callable[[int], bool]] = []
        self._note = note
        self._is_open = False
        self._model: Callable[[], object | None] = _nothing
        self._optimizer: Callable[[], object | None] = _nothing
        self._first = self._beaten = self._next = 0

    def begin(self, moment: TrainBegin) -> None:
        self._is_open = True
        self._model, self._optimizer = _weak(moment.model), _weak(moment.optimizer)
        self._first = self._beaten = self._next = 0

    def count_from(self, step: int) -> None:
        """Say that ``step`` is the first one of the training, which may have been resumed."""
        self._first = step - 1

    def pulse(self, step: int) -> None:
        """Call each pulse before step ``step``; one that raises is noted and dropped."""
        for pulse in tuple(self.pulses):
            try:
                if pulse(step):
                    self._next = step
            except Exception as error:  # noqa: BLE001  an instrument's error is ours, never the run's
                self.pulses.remove(pulse)
                self._note(f"{pulse.__qualname__}: {describe(error)}")

    @property
    def beaten(self) -> int:
        """The last step that was taken."""
        return self._beaten

    def soon(self) -> None:
        self._next = 0

    def is_due(self, step: int) -> bool:
        """Keep that step ``step`` was taken, and say whether it is time to look."""
        self._beaten = step
        return step >= self._next

    def live_until(self, step: int) -> None:
        """Say that the live window ended with ``step``: the next look is twice as far on."""
        self._next = 2 * step - self._first

    def look(self, seats: Iterable[Seat], *, last: bool = False) -> None:
        """Let the lasting instruments look; after the last time each answers for what it has not said."""
        self.live_until(self._beaten)
        if not self._is_open:
            return
        self._is_open = not last
        moment = Look(step=self._beaten, model=self._model(), optimizer=self._optimizer(), last=last)
        for seat in seats:
            if seat.instrument.lasting:
                seat.hear(moment, step=self._beaten, sampled=False)
                if last:
                    seat.give_up(Cause.NOT_REACHED, f"nothing showed it by the end of step {self._beaten}")
                    seat.release()

    def close(self) -> None:
        """Look no more, and read nothing before steps: the process is no run of ours any longer."""
        self._is_open = False
        self.pulses.clear()


def _nothing() -> None:
    return None


def _weak(item: object | None) -> Callable[[], object | None]:
    try:
        return _nothing if item is None else weakref.ref(item)
    except TypeError:
        return _nothing
