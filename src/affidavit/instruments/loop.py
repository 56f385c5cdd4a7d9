"""The loop: the steps it planned and took, the epochs they come to, how it ended and how often it saved."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, ReadBack, at
from affidavit.attach.loader import batches_of
from affidavit.attach.moment import Equipped, Look, MicroBatch, Saved, StepBegin, StepEnd, TrainBegin, TrainEnd
from affidavit.fact.term import Method
from affidavit.fact.values import Value

NOT_OVER = "not over"


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
