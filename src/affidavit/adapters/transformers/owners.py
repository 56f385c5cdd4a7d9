"""Values of a Trainer that several places may have a word on: its environment, what it was handed, its arguments.

What the arguments say is a person's word where the script named it, and not where it handed on what a parser took by
default. The launcher's file is seen as the variables that the launcher makes of it.

Source: transformers 5.24 trainer (it counts micro-batches by its arguments alone), training_args; hf-stack-spike §4;
corpus L2-03, L2-07, L2-09.
Blind to: a seed, which has one owner; ``report_to``, which decides nothing of a training; how
many processes there are, since a worker does not see who asked for them.
"""

from __future__ import annotations

import dataclasses
import os
import weakref
from types import FrameType
from typing import Any

from affidavit.adapters.torch.claims import (
    ACCUMULATION,
    CLIPPING,
    DECAY,
    OPTIMIZER,
    PRECISION,
    RATE,
    SCHEDULE,
    HandedOver,
    by_keyword,
    handed,
    innermost_of,
    number,
    optimizer_kind,
    outside,
    saying,
)
from affidavit.adapters.transformers.arguments import is_from_arguments, is_set, outside_before
from affidavit.adapters.transformers.attention import claims_of
from affidavit.adapters.transformers.names import optimizer_class, schedule_kind
from affidavit.attach.claim import Claim, Claimed
from affidavit.attach.moment import TrainBegin
from affidavit.attach.options import is_typed
from affidavit.attach.session import Session

HANDED = "optimizers=(…) of the Trainer"
FRAMES = 8
_given: dict[int, tuple[weakref.ref[Any], tuple[HandedOver, ...]]] = {}
"""What each Trainer was handed, by the identity of its arguments, which compare by value."""


def remember_handed(arguments: Any, frame: FrameType | None) -> None:
    """Keep what a Trainer that has just been made was handed beside its arguments; it is on the stack."""
    for _ in range(FRAMES):
        if frame is None or ("optimizers" in frame.f_locals and frame.f_locals.get("args") is arguments):
            break
        frame = frame.f_back
    pair = None if frame is None else frame.f_locals.get("optimizers")
    if not isinstance(pair, tuple):
        return
    found = tuple(one for item in pair if item is not None and (one := handed(item)) is not None)
    key = id(arguments)
    _given[key] = (weakref.ref(arguments, lambda _: _given.pop(key, None)), found)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what each place wants of the values that the arguments of a Trainer decide, and what there is."""
    arguments: Any = moment.arguments
    if not hasattr(arguments, "max_grad_norm") or outside_before(arguments) is None:
        return
    _tell_precision(arguments, session)
    _tell_attention(moment, session)
    steps, norm = arguments.gradient_accumulation_steps, arguments.max_grad_norm
    rows = arguments.per_device_train_batch_size
    for subject, name, value, claims, term in (
        ("gradient accumulation", "gradient_accumulation_steps", steps, outside(ACCUMULATION), "batch.accumulation"),
        ("gradient clipping", "max_grad_norm", norm, outside(CLIPPING), ""),
        ("rows a micro-batch", "per_device_train_batch_size", rows, (), "batch.rows"),
    ):
        if isinstance(value, int | float):
            claim = _by_argument(arguments, name, value, term)
            session.fire(Claimed(subject=subject, claims=(*claims, claim), live=number(value)))
    _tell_handed(moment, session)


def _tell_precision(arguments: Any, session: Session) -> None:
    by_flags = "fp16" if arguments.fp16 else "bf16" if arguments.bf16 else "no"
    name = by_flags if by_flags != "no" else "bf16"
    before = outside_before(arguments) or ""
    claims = () if is_from_arguments(before) else outside(PRECISION, "precision.outside", before)
    claim = _by_argument(arguments, name, getattr(arguments, name), "precision.requested")
    said = dataclasses.replace(claim, value=by_flags)
    # A flag that nobody set leaves it to the environment, and is no word of its own.
    if claim.typed or by_flags != "no" or not claims:
        claims = (*claims, said)
    live = str(getattr(arguments, "mixed_precision", "") or os.environ.get(PRECISION, "") or by_flags)
    session.fire(Claimed(subject="mixed precision", claims=claims, live=live))


def _tell_attention(moment: TrainBegin, session: Session) -> None:
    model: Any = moment.model
    wished = (getattr(moment.arguments, "model_init_kwargs", None) or {}).get("attn_implementation")
    live = getattr(getattr(model, "config", None), "_attn_implementation", None)
    if isinstance(wished, str) and isinstance(live, str):
        owner = f"{type(moment.arguments).__name__}(model_init_kwargs=…)"
        claims = (*claims_of(model), Claim(owner, wished, typed=True, term="attention.requested"))
        session.fire(Claimed(subject="attention", claims=claims, live=live))


def _tell_handed(moment: TrainBegin, session: Session) -> None:
    """Say what the handed optimizer and schedule want, and the arguments beside them."""
    arguments: Any = moment.arguments
    optimizer, schedule = innermost_of(moment.optimizer), innermost_of(moment.scheduler)
    live = {**saying(optimizer), **saying(schedule)}
    kind = optimizer_class(getattr(arguments, "optim", None))
    wanted = {
        OPTIMIZER: ("optim", optimizer_kind(kind) if kind else "", "optimizer.kind"),
        RATE: ("learning_rate", number(arguments.learning_rate), "optimizer.learning_rate"),
        DECAY: ("weight_decay", number(arguments.weight_decay), "optimizer.weight_decay"),
        SCHEDULE: ("lr_scheduler_type", schedule_kind(arguments.lr_scheduler_type), "schedule.kind"),
    }
    _, given = _given.get(id(arguments), (None, ()))
    for subject, (name, value, term) in wanted.items():
        claims = [
            claim
            for item in given
            if (claim := item.claims(HANDED, optimizer if OPTIMIZER in item.said else schedule).get(subject))
        ]
        if value:
            claim = _by_argument(arguments, name, getattr(arguments, name), term)
            claims.append(dataclasses.replace(claim, value=value))
        session.fire(Claimed(subject=subject, claims=tuple(claims), live=live.get(subject, "")))


def _by_argument(arguments: Any, name: str, value: Any, term: str) -> Claim:
    callee = type(arguments).__name__
    if is_set(arguments, name) or is_typed(name):
        return by_keyword(callee, name, value, term)
    return dataclasses.replace(by_keyword(callee, name, value), owner=f"{callee}, default of {name}", typed=False)
