"""TrainingArguments → requests for the loop: batches, loader, length, checkpoints, switches of the model.

Source: transformers 5.24 training_args, trainer (``set_initial_training_values``); hf-stack-spike §4.
Blind to: a trainer that splits a batch of its loader over several steps; its rows are Unknown.
"""

from __future__ import annotations

import math
from typing import Any

from affidavit.adapters.transformers.arguments import Ask, is_set, tell
from affidavit.attach.moment import Asked, TrainBegin, Unheard
from affidavit.attach.session import Session
from affidavit.fact.observation import Cause
from affidavit.fact.values import Table, Value

SAMPLERS = {
    "random": "RandomSampler",
    "sequential": "SequentialSampler",
    "group_by_length": "LengthGroupedSampler",
    "batch_rebalance": "BatchRebalanceSampler",
}
"""The class that each strategy stands for; the library may take one whose name only ends like it."""
REPEATS = (("deterministic algorithms", "on"), ("cudnn deterministic", "on"), ("cudnn benchmark", "off"))
"""What ``full_determinism`` asks of torch."""


def _effective(arguments: Any, moment: TrainBegin) -> Value | None:
    if arguments.auto_find_batch_size:
        return None
    return int(arguments.train_batch_size * arguments.gradient_accumulation_steps * arguments.world_size)


def _cap(arguments: Any, moment: TrainBegin) -> Value | None:
    names = ("max_seq_length", "max_length")
    caps = [getattr(arguments, name) for name in names if hasattr(arguments, name) and is_set(arguments, name)]
    return next((cap for cap in caps if type(cap) is int), None)


def _sampler(arguments: Any, moment: TrainBegin) -> Value | None:
    if getattr(arguments, "group_by_length", False):
        return SAMPLERS["group_by_length"]
    return SAMPLERS.get(str(getattr(arguments, "train_sampling_strategy", "")))


def _saves(arguments: Any, moment: TrainBegin) -> Value | None:
    """Return the least number of checkpoints that the cadence comes to; a last one may be written beyond it."""
    every = arguments.save_steps
    # Who names a number of steps and no strategy means the default, whatever has become of it since.
    is_stated = is_set(arguments, "save_strategy")
    strategy = str(getattr(arguments.save_strategy, "value", "")) if is_stated else "steps"
    least = 0
    if strategy == "steps" and every > 0:
        least = moment.planned_steps // (math.ceil(every * moment.planned_steps) if every < 1 else int(every))
    elif strategy == "epoch" and arguments.max_steps <= 0:
        least = int(arguments.num_train_epochs)
    return least or None


def _checkpointing(arguments: Any, moment: TrainBegin) -> Value | None:
    new = getattr(arguments, "activation_checkpointing", None)
    return "on" if (arguments.gradient_checkpointing if new is None else new) else "off"


ASKS = (
    Ask("batch.rows", ("per_device_train_batch_size",), lambda arguments, _: int(arguments.train_batch_size)),
    Ask(
        "batch.accumulation",
        ("gradient_accumulation_steps",),
        lambda arguments, _: int(arguments.gradient_accumulation_steps),
    ),
    Ask("batch.effective", ("per_device_train_batch_size", "gradient_accumulation_steps"), _effective),
    Ask("batch.longest", ("max_length", "max_seq_length"), _cap),
    Ask("loader.sampler", ("train_sampling_strategy", "group_by_length"), _sampler),
    Ask("loader.drop_last", ("dataloader_drop_last",), lambda arguments, _: bool(arguments.dataloader_drop_last)),
    Ask("loader.workers", ("dataloader_num_workers",), lambda arguments, _: int(arguments.dataloader_num_workers)),
    Ask("loop.planned_steps", ("max_steps",), lambda arguments, _: max(int(arguments.max_steps), 0) or None),
    Ask("loop.epochs", ("num_train_epochs",), lambda arguments, _: float(arguments.num_train_epochs)),
    Ask("loop.saves", ("save_steps", "save_strategy"), _saves),
    Ask("model.checkpointing", ("activation_checkpointing", "gradient_checkpointing"), _checkpointing),
    Ask("model.compiled", ("torch_compile",), lambda arguments, _: "whole" if arguments.torch_compile else None),
    Ask("determinism.seed", ("seed",), lambda arguments, _: int(arguments.seed)),
    Ask(
        "determinism.settings",
        ("full_determinism",),
        lambda arguments, _: Table(("setting", "value"), REPEATS) if arguments.full_determinism else None,
    ),
)
SPLIT = ("batch.rows", "batch.accumulation", "batch.effective")
SUBJECTS = tuple(ask.term for ask in ASKS)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the arguments of a Trainer ask of its loop, and who owns what they leave open."""
    arguments: Any = moment.arguments
    if not hasattr(arguments, "per_device_train_batch_size") or not hasattr(arguments, "save_strategy"):
        return
    kind = type(arguments).__name__
    splits = hasattr(arguments, "steps_per_generation")
    for term in SPLIT if splits else ():
        why = f"with {kind} a batch of the loader serves several steps"
        session.fire(Unheard(subject=term, cause=Cause.NO_ADAPTER, why=why))
    tell([ask for ask in ASKS if not (splits and ask.term in SPLIT)], moment, session)
    if arguments.auto_find_batch_size:
        session.fire(Asked(subject="batch.search", value=True, source=f"{kind}(auto_find_batch_size=True)"))
