"""The learning rate: what is planned to move it, how far the plan reaches, and what each step really used."""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, Live, ReadBack, at, is_recorded
from affidavit.attach.moment import Asked, Equipped, Look, StepBegin, StepEnd, TrainBegin
from affidavit.attach.wrapper import innermost
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Series, Tally

POINTS = 150
"""A trace of this many points fits into a fact; every second one goes when it is full."""
ASKED = ("schedule.kind", "schedule.warmup_steps", "optimizer.learning_rate")
_FUNCTION = re.compile(r"_?get_(.+?)_(?:schedule|lr_lambda|lambda)")


class SchedulePlan(ReadBack):
    """Emits what moves the rate, its warm-up, its length, and how many steps the loop has before it.

    A schedule built of functions is named after its function: ``get_cosine_schedule_with_warmup`` is "cosine".

    Source: hf-stack-spike §4; torch 2.13 lr_scheduler. Blind to: a rate that the script sets by hand, or through a
    scheduler that is no torch one ("none"; the trace shows it); a length that only its author's function knows (0).
    """

    name = "schedule plan"
    emits = (
        "schedule.kind",
        "schedule.warmup_steps",
        "schedule.length",
        "schedule.steps_ahead",
        "schedule.asked",
    )

    def __init__(self) -> None:
        self._asked: dict[str, None] = {}

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        steps = max(moment.planned_steps, 0)
        emit.known("schedule.steps_ahead", steps, source=moment.driver, method=Method.INSPECTED)

    @at(Equipped)
    def read(self, moment: Equipped, emit: Emit) -> None:
        if moment.kind != "scheduler":
            return
        plan = _plan(innermost(moment.item, "scheduler", "step"))
        emit.known("schedule.kind", plan.kind, source=moment.source, method=Method.INSPECTED)
        emit.known("schedule.warmup_steps", plan.warmup, source=moment.source, method=Method.INSPECTED)
        emit.known("schedule.length", plan.length, source=moment.source, method=Method.INSPECTED)

    @at(Asked)
    def asked_by_name(self, moment: Asked, emit: Emit) -> None:
        if moment.subject in ASKED:
            self._asked[moment.subject.rpartition(".")[2]] = None

    @at(StepBegin)
    def tell(self, moment: StepBegin, emit: Emit) -> None:
        if "schedule.asked" not in emit.spoken:
            asked = tuple(sorted(self._asked))
            emit.known("schedule.asked", asked, source="what adapters heard", method=Method.DECLARED)


class ScheduleTrace(Instrument):
    """Emits the rate that each step used, and how often the scheduler moved between the first and the last.

    Source: corpus L3-12 to L3-15 (a scheduler that moves once a rank), L2-08, L2-12.
    Blind to: other groups than the first; a rate that lies in a tensor on a device is read at steps that double.
    """

    name = "schedule trace"
    emits = ("schedule.rates", "schedule.moves")
    lasting = True

    def __init__(self) -> None:
        self._trace = Trace()
        self._optimizer: Callable[[], Live] = _nothing
        self._scheduler: Callable[[], Live] = _nothing
        self._first: tuple[int, int] | None = None
        self._last = (0, 0)

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        optimizer = innermost(moment.optimizer, "optimizer", "param_groups")
        if not getattr(optimizer, "param_groups", None):
            for term in self.emits:
                emit.unknown(term, Cause.ABSENT, f"{moment.driver} hands over no optimizer with groups")
            return
        self._optimizer = weakref.ref(optimizer)
        emit.each_step(self._pulse)

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        scheduler = innermost(moment.item, "scheduler", "step") if moment.kind == "scheduler" else None
        if scheduler is not None and isinstance(getattr(scheduler, "last_epoch", None), int):
            self._scheduler = weakref.ref(scheduler)

    @at(StepEnd, sampled=True)
    def sampled(self, moment: StepEnd, emit: Emit) -> None:
        self._report(emit)

    @at(Look)
    def look(self, moment: Look, emit: Emit) -> None:
        self._report(emit)

    def _pulse(self, step: int) -> bool:
        """Keep the rate of this step: one look-up, some comparisons; no tensor is waited for in most steps."""
        optimizer = self._optimizer()
        if optimizer is not None:
            rate = optimizer.param_groups[0]["lr"]
            if isinstance(rate, float):
                self._trace.add(step, rate)
            elif isinstance(rate, int) or rate.device.type == "cpu" or not (step & (step - 1) or is_recorded()):
                self._trace.add(step, float(rate))
            scheduler = self._scheduler()
            if scheduler is not None:
                self._last = (step, scheduler.last_epoch)
                self._first = self._first or self._last
        return False

    def _report(self, emit: Emit) -> None:
        if not self._trace.count:
            return
        source = "the rate of the first group before each step"
        emit.known("schedule.rates", self._trace.series(), source=source, method=Method.EXECUTED)
        counts = {"optimizer steps": self._trace.count - 1}
        if self._first is not None:
            steps, moves = (last - first for last, first in zip(self._last, self._first))
            counts = {
                "moves before": max(self._first[1], 0),
                "optimizer steps": steps,
                "scheduler moves": max(moves, 0),
            }
        source = "the scheduler's own counter before each step"
        emit.known("schedule.moves", Tally.count("moves", counts), source=source, method=Method.EXECUTED)


class Trace:
    """A number over steps in bounded memory: every 2^n-th point; the first, the highest and the last always."""

    def __init__(self) -> None:
        self.count = 0
        self._points: dict[int, float] = {}
        self._stride = 1
        self._next = 0
        self._last = self._highest = (0, 0.0)

    def add(self, step: int, value: float) -> None:
        if self.count and step <= self._last[0]:
            return
        if not self.count or value > self._highest[1]:
            self._highest = (step, value)
        self._last = (step, value)
        if self.count == self._next:
            self._points[step] = value
            self._next += self._stride
            if len(self._points) > POINTS:
                self._points = dict(list(self._points.items())[::2])
                self._stride *= 2
                self._next = -(-(self.count + 1) // self._stride) * self._stride
        self.count += 1

    def series(self) -> Series:
        points = sorted({**self._points, **dict((self._highest, self._last))}.items())
        points = [(step, value) for step, value in points if math.isfinite(value)]
        return Series(tuple(step for step, _ in points), tuple(value for _, value in points), "learning rate")


@dataclass(frozen=True, kw_only=True)
class _Plan:
    kind: str
    warmup: int = 0
    length: int = 0


def _plan(scheduler: Live) -> _Plan:
    """Return what a scheduler says of itself. Nothing of it is called."""
    if scheduler is None:
        return _Plan(kind="none")
    kind, own = type(scheduler).__name__, vars(scheduler)
    functions = own.get("lr_lambdas")
    if functions:
        words = _words(functions[0])
        return _Plan(kind=_named(functions[0]) or kind, warmup=_warmup(words), length=_length(words))
    parts = own.get("_schedulers")
    if parts:
        plans = [_plan(part) for part in parts]
        stones = own.get("_milestones")
        if stones is None:
            return _Plan(kind=" with ".join(plan.kind for plan in plans))
        first, last = plans[0], plans[-1]
        length = stones[-1] + last.length if last.length else 0
        warmup = min(first.warmup, stones[0])
        return _Plan(kind=" then ".join(plan.kind for plan in plans), warmup=warmup, length=length)
    if kind == "LinearLR":
        rises = own["end_factor"] > own["start_factor"]
        return _Plan(kind=kind, **{"warmup" if rises else "length": int(own["total_iters"])})
    if kind == "PolynomialLR":
        return _Plan(kind=kind, length=int(own["total_iters"]))
    if kind == "OneCycleLR":
        rise = own["_schedule_phases"][0]["end_step"]
        return _Plan(kind=kind, warmup=math.ceil(float(rise)), length=int(own["total_steps"]))
    return _Plan(kind=kind, warmup=_warmup(own), length=_length(own))


def _words(function: Any) -> Mapping[str, Any]:
    """Return the names a function was built with: keywords of a partial one, variables that a closure holds."""
    words = dict(getattr(function, "keywords", {}))
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(function, "__closure__", None) or ()):
        try:
            words[name] = cell.cell_contents
        except ValueError:  # named before it is bound
            continue
    return words


def _named(function: Any) -> str:
    inner = getattr(function, "func", function)
    name = str(getattr(inner, "__qualname__", "")).partition(".<locals>")[0].rpartition(".")[2]
    match = _FUNCTION.match(name)
    return match[1] if match else ""


def _warmup(words: Mapping[str, Any]) -> int:
    return _count(words, "num_warmup_steps", "warmup_num_steps")


def _length(words: Mapping[str, Any]) -> int:
    if "num_decay_steps" in words:
        return sum(_count(words, f"num_{part}_steps") for part in ("warmup", "stable", "decay"))
    return _count(words, "num_training_steps", "total_num_steps", "T_max")


def _count(words: Mapping[str, Any], *names: str) -> int:
    found = (words[name] for name in names if isinstance(words.get(name), int | float))
    return max(int(next(found, 0)), 0)


def _nothing() -> None:
    return None
