"""Schedules are named and measured as they say themselves, and the rate of every step is kept in bounded memory."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.optim import lr_scheduler
from transformers import SchedulerType, get_scheduler

from affidavit.adapters.transformers.names import schedule_kind
from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Asked, Equipped, Look, StepBegin, TrainBegin
from affidavit.fact.encoding import to_json
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.values import Series
from affidavit.fact.vocabulary import load
from affidavit.instruments.schedule import POINTS, SchedulePlan, ScheduleTrace, Trace


@dataclass
class Heard:
    said: list[Observation] = field(default_factory=list)
    pulses: list[Callable[[int], bool]] = field(default_factory=list)

    def emit(self, instrument: type[Instrument]) -> Emit:
        folder = Path("unused")
        return Emit(
            vocabulary=load(),
            instrument=instrument.name,
            emits=instrument.emits,
            write=self.said.append,
            evidence_folder=folder,
            tokens_folder=folder,
            pulses=self.pulses,
        )

    def state(self, term: str) -> Known | Unknown:
        return [seen.state for seen in self.said if seen.term == term and seen.aspect is Aspect.RESOLVED][-1]

    def value(self, term: str) -> Any:
        state = self.state(term)
        assert isinstance(state, Known), state
        return state.value


def _optimizer(**settings: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], **{"lr": 0.1, **settings})


def _plan(scheduler: object) -> tuple[str, int, int]:
    heard = Heard()
    emit = heard.emit(SchedulePlan)
    SchedulePlan().read(Equipped(kind="scheduler", item=scheduler, source="test"), emit)
    kind, warmup, length = (heard.value(f"schedule.{part}") for part in ("kind", "warmup_steps", "length"))
    return kind, warmup, length


KWARGS: dict[SchedulerType, dict[str, Any]] = {
    SchedulerType.COSINE_WITH_MIN_LR: {"min_lr": 0.01},
    SchedulerType.COSINE_WARMUP_WITH_MIN_LR: {"min_lr": 0.01},
    SchedulerType.WARMUP_STABLE_DECAY: {"num_decay_steps": 5},
}
ENDLESS = {
    SchedulerType.CONSTANT,
    SchedulerType.CONSTANT_WITH_WARMUP,
    SchedulerType.INVERSE_SQRT,
    SchedulerType.REDUCE_ON_PLATEAU,
    SchedulerType.GREEDY,
}
COLD = {SchedulerType.CONSTANT, SchedulerType.REDUCE_ON_PLATEAU, SchedulerType.GREEDY}


@pytest.mark.parametrize("name", list(SchedulerType), ids=lambda name: name.value)
def test_each_name_of_transformers_stands_for_what_it_builds(name: SchedulerType) -> None:
    built = get_scheduler(
        name, _optimizer(), num_warmup_steps=3, num_training_steps=20, scheduler_specific_kwargs=KWARGS.get(name, {})
    )
    kind, warmup, length = _plan(built)
    assert kind == schedule_kind(name)
    assert warmup == (0 if name in COLD else 3)
    assert length == (0 if name in ENDLESS else 20)


def _closure(num_warmup_steps: int) -> Callable[[int], float]:
    def rate(step: int) -> float:
        return min(1.0, step / num_warmup_steps)

    return rate


def _in_sequence(optimizer: torch.optim.Optimizer) -> lr_scheduler.LRScheduler:
    parts = [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=5), lr_scheduler.CosineAnnealingLR(optimizer, T_max=15)]
    return lr_scheduler.SequentialLR(optimizer, parts, milestones=[5])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, T_max=7), ("CosineAnnealingLR", 0, 7)),
        (lambda optimizer: lr_scheduler.StepLR(optimizer, 3), ("StepLR", 0, 0)),
        (lambda optimizer: lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4), ("LinearLR", 4, 0)),
        (lambda optimizer: lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=4), ("LinearLR", 0, 4)),
        (lambda optimizer: lr_scheduler.PolynomialLR(optimizer, total_iters=9), ("PolynomialLR", 0, 9)),
        (lambda optimizer: lr_scheduler.LambdaLR(optimizer, _closure(6)), ("LambdaLR", 6, 0)),
        (lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda step: 0.9**step), ("LambdaLR", 0, 0)),
        (_in_sequence, ("LinearLR then CosineAnnealingLR", 5, 20)),
    ],
)
def test_schedules_of_torch_say_what_they_are(
    build: Callable[[torch.optim.Optimizer], object], expected: tuple[str, int, int]
) -> None:
    assert _plan(build(_optimizer())) == expected


def test_one_cycle_says_its_rise_and_its_length() -> None:
    scheduler = lr_scheduler.OneCycleLR(_optimizer(momentum=0.9), max_lr=1.0, total_steps=20)
    assert _plan(scheduler) == ("OneCycleLR", 5, 20)


def test_no_scheduler_is_a_fact() -> None:
    assert _plan(None) == ("none", 0, 0)


def test_what_was_asked_is_told_by_name() -> None:
    heard, instrument = Heard(), SchedulePlan()
    emit = heard.emit(SchedulePlan)
    for subject in ("schedule.kind", "optimizer.learning_rate", "optimizer.weight_decay"):
        instrument.asked_by_name(Asked(subject=subject, value="linear", source="test"), emit)
    instrument.tell(StepBegin(step=1), emit)
    assert heard.value("schedule.asked") == ("kind", "learning_rate")


# --- the trace --------------------------------------------------------------------------------------------------


def _watched(optimizer: object, scheduler: object = None) -> tuple[Heard, ScheduleTrace, Emit]:
    heard, instrument = Heard(), ScheduleTrace()
    emit = heard.emit(ScheduleTrace)
    instrument.begin(TrainBegin(driver="test", model=None, optimizer=optimizer), emit)
    instrument.equipped(Equipped(kind="scheduler", item=scheduler, source="test"), emit)
    return heard, instrument, emit


def _train(heard: Heard, optimizer: torch.optim.Optimizer, scheduler: Any, steps: int, *, moves: int = 1) -> None:
    for step in range(1, steps + 1):
        assert [pulse(step) for pulse in heard.pulses] == [False]
        optimizer.step()
        for _ in range(moves):
            scheduler.step()


def test_the_rate_is_the_one_that_the_step_used() -> None:
    optimizer = _optimizer()
    scheduler = lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 4)
    heard, instrument, emit = _watched(optimizer, scheduler)
    _train(heard, optimizer, scheduler, 4)
    instrument.look(Look(step=4, model=None, optimizer=None, last=True), emit)
    rates = heard.value("schedule.rates")
    assert rates.x == (1, 2, 3, 4) and rates.y == pytest.approx((0.1, 0.075, 0.05, 0.025))
    assert str(heard.value("schedule.moves")) == "0 moves before, 3 optimizer steps, 3 scheduler moves"


def test_a_scheduler_that_moves_once_a_rank_shows_in_its_counter() -> None:
    optimizer = _optimizer()
    scheduler = lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    heard, instrument, emit = _watched(optimizer, scheduler)
    _train(heard, optimizer, scheduler, 5, moves=2)
    instrument.look(Look(step=5, model=None, optimizer=None, last=True), emit)
    assert heard.value("schedule.moves")["scheduler moves"] == 8


@pytest.mark.parametrize("steps", [1, 2, 149, 150, 151, 152, 153, 300, 301, 302, 1_000, 12_345])
def test_a_trace_is_bounded_and_keeps_first_highest_and_last(steps: int) -> None:
    trace = Trace()
    rates = [0.1 + 0.001 * ((step * 7919) % 1009) + (step == steps // 3) for step in range(1, steps + 1)]
    for step, rate in enumerate(rates, 1):
        trace.add(step, rate)
    series = trace.series()
    assert len(series.x) <= POINTS + 2
    assert all(rates[step - 1] == rate for step, rate in zip(series.x, series.y, strict=True))
    assert (series.x[0], series.x[-1], max(series.y)) == (1, steps, max(rates))
    strides = {after - before for before, after in zip(series.x, series.x[1:], strict=False)}
    assert max(strides, default=1) <= max(2, 2 * steps // POINTS + 1)


def test_the_longest_trace_fits_into_a_fact() -> None:
    trace = Trace()
    for step in range(1, 100_000):
        trace.add(step * 1_000, 1e-5 / 3 + step * 1e-17)
    assert len(repr(to_json(trace.series()))) < 8 * 1024


def test_a_step_that_comes_twice_counts_once() -> None:
    trace = Trace()
    for step in (1, 2, 2, 3):
        trace.add(step, float(step))
    assert trace.series().x == (1, 2, 3) and trace.count == 3


def test_a_rate_in_a_tensor_is_read_where_nothing_has_to_be_waited_for() -> None:
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr=torch.tensor(0.5))
    heard, instrument, emit = _watched(optimizer)
    for step in range(1, 4):
        heard.pulses[0](step)
    instrument.look(Look(step=3, model=None, optimizer=None, last=True), emit)
    assert heard.value("schedule.rates") == Series((1, 2, 3), (0.5, 0.5, 0.5), "learning rate")


@dataclass
class OnDevice:
    """A rate whose reading would wait for a device."""

    reads: int = 0

    @property
    def device(self) -> torch.device:
        return torch.device("cuda")

    def __float__(self) -> float:
        self.reads += 1
        return 0.5


def test_a_rate_on_a_device_is_waited_for_in_few_steps() -> None:
    optimizer, rate = _optimizer(), OnDevice()
    optimizer.param_groups[0]["lr"] = rate
    heard, instrument, emit = _watched(optimizer)
    for step in range(1, 1_001):
        heard.pulses[0](step)
    instrument.look(Look(step=1_000, model=None, optimizer=None, last=True), emit)
    assert heard.value("schedule.rates").x == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) and rate.reads == 10


def test_no_optimizer_is_an_unknown_with_its_cause() -> None:
    heard, _, _ = _watched(None)
    state = heard.state("schedule.rates")
    assert isinstance(state, Unknown) and state.cause is Cause.ABSENT


def test_nothing_is_kept_alive() -> None:
    optimizer = _optimizer()
    scheduler = lr_scheduler.StepLR(optimizer, 1)
    heard, _, _ = _watched(optimizer, scheduler)
    alive = weakref.ref(optimizer), weakref.ref(scheduler)
    del optimizer, scheduler
    gc.collect()
    assert [reference() for reference in alive] == [None, None]
    assert heard.pulses[0](1) is False


def test_a_pulse_costs_little() -> None:
    """The budget of a step is 20 µs for all of ours; alarms at ten times what is usual on a slow machine."""
    optimizer = _optimizer()
    scheduler = lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    heard, _, _ = _watched(optimizer, scheduler)
    best = float("inf")
    for turn in range(5):
        begun = time.perf_counter()
        for step in range(turn * 2_000, turn * 2_000 + 2_000):
            heard.pulses[0](step + 1)
        best = min(best, (time.perf_counter() - begun) / 2_000)
    assert best < 10e-6, f"{best * 1e6:.2f} µs"
