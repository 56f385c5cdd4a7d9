"""The loop: the steps it planned and took, where it began, the epochs they come to, how it ended and saved."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from affidavit.attach.instrument import Emit, Instrument, Live, ReadBack, at, is_recorded
from affidavit.attach.loader import batches_of
from affidavit.attach.moment import Equipped, Look, MicroBatch, Saved, StepBegin, StepEnd, TrainBegin, TrainEnd
from affidavit.attach.wrapper import innermost
from affidavit.fact.term import Method
from affidavit.fact.values import Table, Tally, Value

NOT_OVER = "not over"
MOST_BACK = 32


class LoopLength(ReadBack):
    """Emits what the loop planned and, at the end, what it did; until then it says that it is not over.

    Epochs are planned steps over updates an epoch, where the last update of an epoch may be a smaller one. So a plan
    that forgets that update, or the accumulation, comes to fewer epochs than were asked for.

    Source: hf-stack-spike §4 (``max_steps`` beats ``num_train_epochs``); corpus L2-14, L3-06, L3-32, L3-33.
    Blind to: checkpoints that the script writes by itself; the length of a stream; why a loop stopped early.
    """

    name = "loop length"
    emits = ("loop.planned_steps", "loop.epochs", "loop.steps", "loop.ended", "loop.saves")
    lasting = True

    def __init__(self) -> None:
        self._remaining = self._planned = 0
        self._driver = ""
        self._batches = 0
        self._counted = self._most = 0
        self._saves = 0
        self._is_over = False

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._remaining, self._driver = moment.planned_steps, moment.driver

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        if moment.kind == "loader" and moment.item is not None:
            self._batches = batches_of(moment.item)

    @at(StepBegin)
    def step_begins(self, moment: StepBegin, emit: Emit) -> None:
        self._counted = 0
        if self._remaining and not self._planned:
            self._planned = self._remaining + moment.step - 1

    @at(MicroBatch)
    def counted(self, moment: MicroBatch, emit: Emit) -> None:
        self._counted += 1
        self._most = max(self._most, self._counted)

    @at(Saved)
    def saved(self, moment: Saved, emit: Emit) -> None:
        self._saves += 1

    @at(StepEnd, sampled=True)
    def so_far(self, moment: StepEnd, emit: Emit) -> None:
        self._say(emit, moment.step, NOT_OVER)

    @at(TrainEnd)
    def ends(self, moment: TrainEnd, emit: Emit) -> None:
        self._is_over = True
        if moment.error:
            how = "raised"
        elif not self._planned:
            how = "returned"
        elif moment.step >= self._planned:
            how = "as planned"
        else:
            how = "data ran out" if moment.exhausted else "stopped early"
        self._say(emit, moment.step, how)

    @at(Look)
    def looks(self, moment: Look, emit: Emit) -> None:
        if moment.last and not self._is_over:
            self._say(emit, moment.step, "interrupted" if self._planned else "returned")

    def _say(self, emit: Emit, step: int, ended: str) -> None:
        updates = -(-self._batches // self._most) if self._most else 0
        inspected: dict[str, Value] = {
            "loop.planned_steps": self._planned,
            "loop.epochs": self._planned / updates if updates else 0.0,
        }
        source = f"{self._driver}: {self._batches} micro-batches an epoch, {self._most} a step"
        for term, value in inspected.items():
            emit.known(term, value, source=source, method=Method.INSPECTED)
        executed: dict[str, Value] = {"loop.steps": step, "loop.ended": ended, "loop.saves": self._saves}
        for term, value in executed.items():
            emit.known(term, value, source=f"{self._driver}, at step {step}", method=Method.EXECUTED)


class LoopPosition(Instrument):
    """Emits where the loop began, by its own count, its optimizer's and its scheduler's, and where it went back.

    An optimizer or a scheduler that does not count each step is left out.

    Source: DESIGN D22; torch 2.13 optim (``state[...]["step"]``).
    Blind to: a plain loop's own count, which nobody tells (it begins at 0 here); a second fit of Lightning's, as well.
    """

    name = "loop position"
    emits = ("loop.position", "loop.steps_back")
    lasting = True

    def __init__(self) -> None:
        self._driver = ""
        self._optimizer: Callable[[], Live] = _nothing
        self._scheduler: Callable[[], Live] = _nothing
        self._begun: dict[str, int] = {}
        self._last = 0
        self._back: list[tuple[int, int, int]] = []
        self._told = -1

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._driver = moment.driver
        optimizer = innermost(moment.optimizer, "optimizer", "param_groups")
        if isinstance(getattr(optimizer, "state", None), dict):
            self._optimizer = weakref.ref(optimizer)
        emit.each_step(self._pulse)

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        scheduler = innermost(moment.item, "scheduler", "step") if moment.kind == "scheduler" else None
        if scheduler is not None and isinstance(getattr(scheduler, "last_epoch", None), int):
            self._scheduler = weakref.ref(scheduler)

    @at(StepBegin)
    def step_begins(self, moment: StepBegin, emit: Emit) -> None:
        if not self._begun:
            optimizer = max(_counted(self._optimizer()), 0)
            self._begun = {"loop": moment.step - 1, "optimizer": optimizer, "scheduler": _moved(self._scheduler())}
            # A process may end before its sampled step; until then nobody can say that a 0 was counted.
            self._say(emit, {kind: count for kind, count in self._begun.items() if count or kind == "loop"})

    @at(StepEnd, sampled=True)
    def sampled(self, moment: StepEnd, emit: Emit) -> None:
        counts = dict(self._begun)
        if _counted(self._optimizer()) <= counts["optimizer"]:
            del counts["optimizer"]
        if _moved(self._scheduler()) <= counts["scheduler"]:
            del counts["scheduler"]
        self._say(emit, counts)
        self._tell(emit)

    @at(Look)
    def looks(self, moment: Look, emit: Emit) -> None:
        self._tell(emit)

    def _pulse(self, step: int) -> bool:
        """Compare the step with the one before; that is all, unless the loop went back."""
        went_back = step < self._last
        if went_back and len(self._back) < MOST_BACK:
            self._back.append((self._last, step, _counted(self._optimizer())))
        self._last = step
        return went_back

    def _say(self, emit: Emit, counts: dict[str, int]) -> None:
        source = f"{self._driver}, before its first step here"
        emit.known("loop.position", Tally.count("steps", counts), source=source, method=Method.EXECUTED)

    def _tell(self, emit: Emit) -> None:
        if len(self._back) != self._told:
            self._told = len(self._back)
            table = Table(("from", "to", "optimizer"), tuple(self._back))
            source = f"{self._driver}, before each step"
            emit.known("loop.steps_back", table, source=source, method=Method.EXECUTED)


def _counted(optimizer: Live) -> int:
    """Return the steps that an optimizer has counted, -1 where it does not count, or nobody may ask now."""
    if optimizer is None or is_recorded():
        return -1
    return next((int(kept["step"]) for kept in optimizer.state.values() if "step" in kept), -1)


def _moved(scheduler: Live) -> int:
    return 0 if scheduler is None else max(scheduler.last_epoch, 0)


def _nothing() -> None:
    return None
