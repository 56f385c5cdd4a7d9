"""What a trainer made of the rows that the script handed over, and which columns nobody reads.

A dataset keeps no memory of what it was made from. So each call that makes one of another is written down beside it:
names of columns and numbers of rows, never the data.

Source: datasets 5.2 arrow_dataset; trl 1.16 sft_trainer (``_prepare_dataset``); transformers 5.24 trainer
(``remove_unused_columns``, ``RemoveColumnsCollator``).
Blind to: streamed datasets, and those of other kinds, whose columns nobody can name without reading a row; what was
before a dataset was concatenated or interleaved; a loop that hands over no loader.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import FrameType, ModuleType
from typing import Any

from affidavit.attach.moment import Prepared, TrainBegin
from affidavit.attach.session import Session

TRAINERS = frozenset(("trl", "transformers", "unsloth", "unsloth_zoo", "axolotl", "llamafactory", "swift"))
"""Packages that prepare a dataset behind the script's back; whoever else calls is the script's own."""
CALLS = (
    "map",
    "filter",
    "select",
    "select_columns",
    "remove_columns",
    "rename_column",
    "rename_columns",
    "add_column",
    "cast",
    "cast_column",
    "class_encode_column",
    "flatten",
    "flatten_indices",
    "shuffle",
    "sort",
    "shard",
    "skip",
    "take",
    "with_format",
    "with_transform",
)
STEPS_KEPT = 64
KEPT, READ, LEFT_OUT = "kept", "read", "left out"


@dataclass(frozen=True)
class Step:
    """One call that made a dataset of another: whose it was ("" the script's), and what came of rows and columns."""

    whose: str
    call: str
    why: str
    rows: tuple[int, int]
    columns: tuple[tuple[str, ...], tuple[str, ...]]


_histories: dict[int, tuple[weakref.ref[Any], tuple[Step, ...]]] = {}
"""By identity: a dataset is compared by nobody, and must not be kept alive."""
_kinds: list[type[Any]] = []


def _is_dataset(item: object) -> bool:
    """Say whether this is a dataset whose rows are there and not streamed."""
    return any(issubclass(type(item), kind) for kind in _kinds)


def history(dataset: object) -> tuple[Step, ...]:
    """Return the calls that made this dataset, as far back as they were heard."""
    held = _histories.get(id(dataset))
    return held[1] if held is not None and held[0]() is dataset else ()


def bind(module: ModuleType, session: Session) -> None:
    kind = module.Dataset
    _kinds.append(kind)

    @session.shielded
    def remember(before: Any, after: Any, call: str, named: Mapping[str, Any], frame: FrameType) -> None:
        if after is before or not issubclass(type(after), kind):
            return
        step = Step(
            whose=_whose(frame),
            call=call,
            why=str(named.get("desc") or ""),
            rows=(before.num_rows, after.num_rows),
            columns=(tuple(before.column_names), tuple(after.column_names)),
        )
        key = id(after)
        reference = weakref.ref(after, lambda _: _histories.pop(key, None))
        _histories[key] = reference, (*history(before), step)[-STEPS_KEPT:]

    for name in CALLS:
        if name in kind.__dict__:
            setattr(kind, name, _heard(kind.__dict__[name], name, remember))


def _heard(call: Callable[..., Any], name: str, remember: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(call)
    def heard(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = call(self, *args, **kwargs)
        remember(self, made, name, kwargs, sys._getframe(1))
        return made

    return heard


def _whose(frame: FrameType | None) -> str:
    """Return which trainer's code made the call, "" where it was the script's; datasets call each other."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("datasets", "affidavit"):
            return package if package in TRAINERS else ""
        frame = frame.f_back
    return ""


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what became of rows and columns between the script and the loader of the training."""
    loader: Any = moment.loader
    dataset: Any = getattr(loader, "dataset", None)
    if _is_dataset(dataset):
        steps, columns = history(dataset), tuple(dataset.column_names)
    elif type(dataset) in (list, tuple) and dataset and type(dataset[0]) is dict:
        steps, columns = (), tuple(map(str, dataset[0]))
    else:
        return
    trainers = tuple(takewhile(lambda step: step.whose, reversed(steps)))[::-1]
    session.fire(
        Prepared(
            columns=_fates(trainers, columns, getattr(getattr(loader, "collate_fn", None), "signature_columns", None)),
            filters=tuple(
                (step.whose, step.why or step.call, *step.rows) for step in trainers if step.call == "filter"
            ),
            regrouped=any(step.call == "map" and step.rows[0] != step.rows[1] for step in steps),
            source=f"dataset of the loader, {len(trainers)} steps after the script",
        )
    )


def _fates(steps: Sequence[Step], last: Sequence[str], accepted: Sequence[str] | None) -> Mapping[str, str]:
    """Return what became of each column that the script handed over."""
    fates = dict.fromkeys(steps[0].columns[0] if steps else last, KEPT)
    for step in steps:
        for column in set(step.columns[0]) - set(step.columns[1]):
            if fates.get(column) == KEPT:
                fates[column] = LEFT_OUT if step.call in ("remove_columns", "select_columns") else READ
    if accepted is not None:
        fates |= {column: LEFT_OUT for column, fate in fates.items() if fate == KEPT and column not in accepted}
    return fates
