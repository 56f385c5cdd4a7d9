"""Batches, loaders and loops as their live objects show them, and what is said where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset

from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import (
    Asked,
    Batch,
    Equipped,
    Implied,
    Look,
    MicroBatch,
    Saved,
    StepBegin,
    StepEnd,
    TrainBegin,
    TrainEnd,
)
from affidavit.fact.observation import Aspect, Known, Observation, Unknown
from affidavit.fact.vocabulary import load
from affidavit.instruments.batches import LongestRow, StepShape
from affidavit.instruments.loader import LoaderSettings
from affidavit.instruments.loop import LoopLength

ROWS = TensorDataset(torch.arange(10))


@dataclass
class Seen:
    """An instrument at work: moments go in by the name of its listener, what it says comes out."""

    instrument: Instrument
    said: list[Observation] = field(default_factory=list)

    def __post_init__(self) -> None:
        kind = type(self.instrument)
        folder = Path("unused")
        self.emit = Emit(load(), kind.name, kind.emits, self.said.append, folder, folder)

    def hear(self, *moments: Any) -> Seen:
        for moment in moments:
            for kind, _, name in type(self.instrument).listeners():
                if type(moment) is kind:
                    getattr(self.instrument, name)(moment, self.emit)
        return self

    def value(self, term: str) -> object:
        states = [one.state for one in self.said if one.term == term and one.aspect is Aspect.RESOLVED]
        return states[-1].value if isinstance(states[-1], Known) else states[-1].cause

    def request(self, term: str) -> object:
        asked = [one.state for one in self.said if one.term == term and one.aspect is Aspect.REQUESTED]
        assert not any(isinstance(state, Unknown) for state in asked)
        return asked[-1].value if asked and isinstance(asked[-1], Known) else None


class Stream(IterableDataset[int]):
    """Data that says how long it is and must not be asked: torch would hold it to that."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(10))

    def __len__(self) -> int:
        raise AssertionError("nobody may ask")


class Sharded(BatchSampler):
    """What stands around a batch sampler on several ranks, each of which takes a part of its batches."""

    def __init__(self, inner: BatchSampler, *, split_batches: bool) -> None:
        self.batch_sampler, self.split_batches, self.num_processes = inner, split_batches, 2
        self.batch_size, self.drop_last = inner.batch_size, inner.drop_last

    def __len__(self) -> int:
        return 3


def _sharded(*, split: bool) -> DataLoader[Any]:
    inner = BatchSampler(RandomSampler(ROWS), batch_size=4, drop_last=True)
    return DataLoader(ROWS, batch_sampler=Sharded(inner, split_batches=split))


@pytest.mark.parametrize(
    ("loader", "sampler", "drops", "batches"),
    [
        (DataLoader(ROWS, batch_size=3, shuffle=True), "RandomSampler", False, 4),
        (DataLoader(ROWS, batch_size=3, drop_last=True), "SequentialSampler", True, 3),
        (DataLoader(Stream(), batch_size=3), "none", False, 0),
        (_sharded(split=False), "RandomSampler", True, 3),
    ],
)
def test_a_loader_is_read_through_what_stands_around_its_sampler(
    loader: DataLoader[Any], sampler: str, drops: bool, batches: int
) -> None:
    seen = Seen(LoaderSettings()).hear(Equipped(kind="loader", item=loader, source="here"), StepBegin(step=1))
    names = ("loader.sampler", "loader.drop_last", "loader.batches", "loader.workers")
    assert [seen.value(name) for name in names] == [sampler, drops, batches, 0]


def test_a_loop_without_a_loader_says_so() -> None:
    seen = Seen(LoaderSettings()).hear(StepBegin(step=1))
    assert (seen.value("loader.sampler"), seen.value("loader.batches")) == ("unseen", 0)


def _step(*moments: Any) -> Seen:
    return Seen(StepShape()).hear(*moments, StepEnd(step=2))


def _batch(rows: int, **more: Any) -> Batch:
    return Batch(step=2, inputs={"input_ids": torch.zeros(rows, 5, dtype=torch.long), **more})


def test_a_loop_that_counts_micro_batches_is_believed_over_calls_of_the_model() -> None:
    loader = Equipped(kind="loader", item=DataLoader(ROWS, batch_size=4), source="here")
    counted = [MicroBatch(step=2)] * 2
    seen = _step(loader, StepBegin(step=2), _batch(8), counted[0], _batch(8), _batch(8), counted[1])
    names = ("batch.rows", "batch.accumulation", "batch.effective", "batch.plan")
    assert [seen.value(name) for name in names] == [4, 2, 8, "unstated"]


def test_the_smaller_last_step_of_an_epoch_does_not_count() -> None:
    seen = _step(StepBegin(step=1), *[MicroBatch(step=1)] * 5, StepBegin(step=2), _batch(4), MicroBatch(step=2))
    assert seen.value("batch.accumulation") == 5


def test_calls_of_the_model_stand_for_micro_batches_where_nobody_counts() -> None:
    seen = _step(StepBegin(step=2), _batch(4), _batch(3))
    assert [seen.value(name) for name in ("batch.rows", "batch.accumulation", "batch.effective")] == [4, 2, 8]


def test_a_batch_that_ranks_split_counts_in_part() -> None:
    loader = Equipped(kind="loader", item=_sharded(split=True), source="here")
    assert _step(loader, StepBegin(step=2), _batch(2)).value("batch.rows") == 2


def test_rows_packed_into_one_are_not_counted_as_one() -> None:
    packed = _batch(1, position_ids=torch.zeros(1, 5, dtype=torch.long))
    assert isinstance(_step(StepBegin(step=2), packed).said[-1].state, Known)
    assert type(_step(StepBegin(step=2), packed).value("batch.rows")) is not int


@pytest.mark.parametrize(
    ("heard", "plan", "requested"),
    [
        ((), "unstated", 4),
        ((Implied(subject="batch.rows", owner="default"),), "unstated", None),
        ((Asked(subject="batch.accumulation", value=1, source="here"),), "stated", 4),
        ((Asked(subject="batch.rows", value=4, source="here"),), "stated", None),
        ((Asked(subject="batch.search", value=True, source="here"),), "to be found", 4),
    ],
)
def test_a_plan_is_what_was_said_of_it_and_a_loader_of_ones_own_is_a_request(
    heard: tuple[Any, ...], plan: str, requested: int | None
) -> None:
    seen = _step(*heard, StepBegin(step=2), _batch(4))
    assert (seen.value("batch.plan"), seen.request("batch.effective")) == (plan, requested)


@pytest.mark.parametrize(
    ("inputs", "longest"),
    [
        ({"input_ids": torch.ones(2, 7), "attention_mask": torch.tensor([[1] * 3 + [0] * 4, [1] * 5 + [0] * 2])}, 5),
        ({"input_ids": torch.ones(1, 7), "position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 2]])}, 4),
        ({"input_ids": torch.ones(2, 7)}, 7),
        ({"input_ids": torch.ones(2, 7), "attention_mask": torch.ones(2, 1, 7, 7)}, 7),
        ({"pixel_values": torch.ones(2, 7)}, 0),
        ({"input_ids": torch.ones(0, 7)}, 0),
    ],
)
def test_the_longest_row_is_counted_without_padding(inputs: dict[str, Any], longest: int) -> None:
    seen = Seen(LongestRow()).hear(Batch(step=2, inputs=inputs), StepEnd(step=2))
    assert seen.value("batch.longest") == longest


def _loop(*moments: Any, planned: int = 8) -> Seen:
    begin = TrainBegin(driver="a loop", model=None, planned_steps=planned)
    loader = Equipped(kind="loader", item=DataLoader(ROWS, batch_size=1), source="here")
    return Seen(LoopLength()).hear(begin, loader, StepBegin(step=1), *[MicroBatch(step=1)] * 3, *moments)


@pytest.mark.parametrize(
    ("end", "planned", "ended"),
    [
        (TrainEnd(step=8), 8, "as planned"),
        (TrainEnd(step=5), 8, "stopped early"),
        (TrainEnd(step=5, exhausted=True), 8, "data ran out"),
        (TrainEnd(step=5, error="ValueError"), 8, "raised"),
        (TrainEnd(step=5), 0, "returned"),
        (Look(step=5, model=None, optimizer=None, last=True), 8, "interrupted"),
        (Look(step=5, model=None, optimizer=None, last=True), 0, "returned"),
    ],
)
def test_a_loop_says_how_it_ended(end: Any, planned: int, ended: str) -> None:
    seen = _loop(end, Look(step=end.step, model=None, optimizer=None, last=True), planned=planned)
    assert (seen.value("loop.ended"), seen.value("loop.steps")) == (ended, end.step)


def test_a_loop_that_goes_on_says_that_it_is_not_over() -> None:
    seen = _loop(StepEnd(step=2), Look(step=4, model=None, optimizer=None))
    assert (seen.value("loop.ended"), seen.value("loop.steps")) == ("not over", 2)


def test_epochs_count_the_last_smaller_step() -> None:
    """Ten micro-batches, three a step: four steps an epoch."""
    seen = _loop(StepEnd(step=2))
    assert (seen.value("loop.planned_steps"), seen.value("loop.epochs")) == (8, 2.0)


def test_a_resumed_loop_plans_what_it_did_before_as_well() -> None:
    begin = TrainBegin(driver="a loop", model=None, planned_steps=2)
    seen = Seen(LoopLength()).hear(begin, StepBegin(step=7), StepEnd(step=7), StepBegin(step=8), StepEnd(step=8))
    assert (seen.value("loop.planned_steps"), seen.value("loop.epochs")) == (8, 0.0)


def test_checkpoints_are_counted_to_the_end() -> None:
    seen = _loop(StepEnd(step=2), Saved(step=4), Saved(step=8), TrainEnd(step=8))
    assert seen.value("loop.saves") == 2
