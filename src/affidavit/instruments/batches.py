"""Batches: rows and micro-batches of one optimizer step, and the longest row."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from affidavit.attach.instrument import Emit, Live, ReadBack, at, local
from affidavit.attach.loader import rows_of
from affidavit.attach.moment import Asked, Batch, Equipped, Implied, MicroBatch, StepBegin, StepEnd
from affidavit.fact.observation import Cause
from affidavit.fact.term import UNSTATED, Method

ASKING = ("batch.rows", "batch.accumulation")


class StepShape(ReadBack):
    """Emits how many rows a micro-batch has, how many micro-batches a step, and how many rows that makes on all ranks.

    The larger of the two steps that are watched counts: the last step of an epoch may find fewer micro-batches.

    Source: hf-stack-spike §4 (the arguments keep 8 rows while the loader makes 2; an Accelerator's own count lies).
    Blind to: ranks that share the rows of one another (tensor and sequence parallel), which are counted as if each had
    its own; a model that is called twice for a micro-batch, where the loop does not count them itself.
    """

    name = "step shape"
    emits = ("batch.plan", "batch.rows", "batch.accumulation", "batch.effective")

    def __init__(self) -> None:
        self._plan = UNSTATED
        self._are_arguments = False
        self._rows = 0
        self._entered = self._calls = 0
        self._counted = self._most = 0
        self._are_packed = False

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        super().asked(moment, emit)
        self._are_arguments = self._are_arguments or moment.subject == "batch.rows"
        if moment.subject == "batch.search":
            self._plan = "to be found"
        elif moment.subject in ASKING and self._plan == UNSTATED:
            self._plan = "stated"

    @at(Implied)
    def implied(self, moment: Implied, emit: Emit) -> None:
        self._are_arguments = self._are_arguments or moment.subject == "batch.rows"

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        if moment.kind == "loader":
            self._rows = rows_of(moment.item)

    @at(StepBegin)
    def plan(self, moment: StepBegin, emit: Emit) -> None:
        self._counted = 0
        emit.known("batch.plan", self._plan, source="what adapters heard", method=Method.DECLARED)

    @at(MicroBatch)
    def counted(self, moment: MicroBatch, emit: Emit) -> None:
        self._counted += 1
        self._most = max(self._most, self._counted)

    @at(Batch, sampled=True)
    def entered(self, moment: Batch, emit: Emit) -> None:
        self._calls += 1
        shape = _shape(moment.inputs)
        self._entered = max(self._entered, shape[0] if shape else 0)
        self._are_packed = self._are_packed or moment.inputs.get("position_ids") is not None

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        made = f"micro-batches that the loop counted until step {moment.step}"
        accumulation, source = (
            (self._most, made) if self._most else (self._calls, f"calls of the model in step {moment.step}")
        )
        rows, where = (
            (self._rows, "loader of the training")
            if self._rows
            else (self._entered, f"batches that entered the model in step {moment.step}")
        )
        if rows and not (self._are_packed and rows == 1 and not self._rows):
            emit.known("batch.rows", rows, source=where, method=Method.INSPECTED)
        else:
            emit.unknown("batch.rows", Cause.NO_OPERATION, "no loader says how many, and none entered as rows")
        if accumulation:
            emit.known("batch.accumulation", accumulation, source=source, method=Method.EXECUTED)
        if accumulation and rows:
            effective = rows * accumulation * _world()
            emit.known("batch.effective", effective, source=f"{where}, {source}, ranks", method=Method.INSPECTED)
            if not self._are_arguments:
                # Where no argument decides the rows, the script made its loader itself: that is what it asked for.
                emit.requested("batch.effective", effective, source="the script's own loader")


class LongestRow(ReadBack):
    """Emits the length of the longest row that entered the model in the sampled step.

    By the attention mask, else by positions where rows are packed into one, else by the width of the batch.

    Source: corpus L2-04, L2-06 (a limit that never reached the data).
    Blind to: rows of other steps; ids that enter under another name than ``input_ids``.
    """

    name = "longest row"
    emits = ("batch.longest",)

    def __init__(self) -> None:
        self._longest = 0
        self._batches = 0

    @at(Batch, sampled=True)
    def entered(self, moment: Batch, emit: Emit) -> None:
        self._batches += 1
        self._longest = max(self._longest, _longest(moment.inputs))

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        if self._batches:
            source = f"batches that entered the model in step {moment.step}"
            emit.known("batch.longest", self._longest, source=source, method=Method.EXECUTED)


def _shape(inputs: Mapping[str, Live]) -> tuple[int, ...]:
    """Return the shape of the ids, or of the first tensor with rows."""
    named = inputs.get("input_ids")
    for value in (named, *inputs.values()):
        if len(shape := tuple(getattr(value, "shape", ()))) > 1:
            return shape
    return ()


def _longest(inputs: Mapping[str, Live]) -> int:
    ids: Live = inputs.get("input_ids")
    mask: Live = inputs.get("attention_mask")
    positions: Live = inputs.get("position_ids")
    if not getattr(ids, "ndim", 0) or not ids.numel():
        return 0
    if mask is not None and getattr(mask, "shape", None) == ids.shape:
        return int((local(mask) != 0).sum(-1).max())
    if positions is not None and getattr(positions, "shape", None) == ids.shape:
        return int(local(positions).max()) + 1
    return int(ids.shape[-1])


def _world() -> int:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return 1
    return int(distributed.get_world_size())
