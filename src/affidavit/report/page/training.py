"""What the training did, drawn: the learning rate of each step beside its plan, and the weights that moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.values import Series, Tally, Value
from affidavit.record.record import Record
from affidavit.report.page import said
from affidavit.report.page.chart import Curve, curve
from affidavit.report.page.said import Cell, Shown

_PLANNED = (
    ("schedule.warmup_steps", "warm-up ends"),
    ("schedule.length", "schedule ends"),
    ("loop.planned_steps", "plan ends"),
)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The learning rate of one training: a drawing, the plan beside it, and its numbers."""

    about: str
    curve: Curve | None
    planned: tuple[tuple[str, str], ...]
    numbers: Shown


@dataclass(frozen=True, kw_only=True)
class Moved:
    """How many parameters moved, of which ranks, and those that do not do what was asked of them."""

    about: str
    counts: tuple[tuple[str, str], ...]
    exceptions: tuple[Cell, ...]


def rates(record: Record) -> tuple[Rates, ...]:
    """Return the learning rate of each training, of each set of ranks that agree."""
    return tuple(_each_rate(record))


def moved(record: Record) -> tuple[Moved, ...]:
    """Return how many weights moved, of each training and each set of ranks that agree."""
    return tuple(_each_moved(record))


def _each_rate(record: Record) -> Iterator[Rates]:
    for fact in record.facts if "schedule.rates" in record.vocabulary else ():
        if fact.name != "schedule.rates" or not isinstance(fact.state, Known):
            continue
        if isinstance(fact.state.value, Series):
            planned = []
            for name, label in _PLANNED:
                value = _same(record, name, fact.episode, fact.ranks)
                if isinstance(value, int) and value > 0:
                    planned.append((value, label))
            yield Rates(
                about=said.where(record, fact),
                curve=curve(fact.state.value, planned, what="learning rate of each step"),
                planned=tuple((label, f"{step:,}") for step, label in planned),
                numbers=said.shown(fact.state.value),
            )


def _same(record: Record, name: str, episode: int, ranks: tuple[int, ...]) -> Value | None:
    """Return what ranks that share one fact know of another."""
    for fact in record.find(name, episode=episode):
        if isinstance(fact.state, Known) and (set(fact.ranks) & set(ranks) or not ranks):
            return fact.state.value
    return None


def _each_moved(record: Record) -> Iterator[Moved]:
    for fact in record.facts if "weights.moved" in record.vocabulary else ():
        if fact.name == "weights.moved" and isinstance(fact.state, Known) and isinstance(fact.state.value, Tally):
            known = [
                other
                for other in record.find("weights.exceptions", episode=fact.episode)
                if set(other.ranks) & set(fact.ranks) or not fact.ranks
            ]
            yield Moved(
                about=said.where(record, fact),
                counts=tuple((kind, f"{count:,}") for kind, count in fact.state.value.counts),
                exceptions=tuple(said.cell(record, other) for other in known),
            )
