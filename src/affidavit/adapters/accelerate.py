"""Accelerate → requests: what an Accelerator was asked for by a script that drives its own loop.

The loop itself is plain: its optimizer is a wrapper around one of torch, whose hooks show each step that is taken.

Source: accelerate 1.15 accelerator; hf-stack-spike §4 (``gradient_accumulation_steps`` lies under a Trainer), §9.
Blind to: an Accelerator that a Trainer made for itself; there the Trainer's arguments are the request.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.saving import Call, heard
from affidavit.attach.session import Describer, Session

PRECISION = "ACCELERATE_MIXED_PRECISION"
ACCUMULATION = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"


class _Last:
    """The Accelerator that was made last, and the names its maker wrote."""

    def __init__(self) -> None:
        self.find: Callable[[], Any] = lambda: None
        self.named: frozenset[str] = frozenset()


_last = _Last()


def bind_accelerator(module: ModuleType, session: Session) -> None:
    accelerator_class = module.Accelerator
    build = accelerator_class.__init__

    @session.shielded
    def remember(accelerator: Any, given: Mapping[str, Any]) -> None:
        _last.find = weakref.ref(accelerator)
        _last.named = frozenset(name for name, value in given.items() if value is not None)

    @functools.wraps(build)
    def built(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        remember(self, kwargs)

    accelerator_class.__init__ = built
    save_state, save_model = accelerator_class.save_state, accelerator_class.save_model
    accelerator_class.save_state = heard(save_state, session, form="state", path="output_dir", writes=_is_main)
    accelerator_class.save_model = heard(save_model, session, form="pretrained", path="save_directory", writes=_is_main)


def _is_main(call: Call) -> bool:
    return bool(call["self"].is_main_process)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the Accelerator of a plain loop was asked for, and what it took from its environment."""
    accelerator = _last.find()
    if accelerator is None or moment.arguments is not None:
        return
    precision = str(accelerator.mixed_precision)
    outside = os.environ.get(PRECISION, "no").lower()
    if outside != "no":
        session.fire(Asked(subject="precision outside", value=outside, source=f"environment: {PRECISION}={outside}"))
    if "mixed_precision" in _last.named:
        session.fire(Asked(subject="precision", value=precision, source="Accelerator(mixed_precision=…)"))
    else:
        owner = f"environment: {PRECISION}={outside}" if outside != "no" else "default of Accelerator"
        session.fire(Implied(subject="precision.matmul_types", owner=owner))
    steps = int(accelerator.gradient_accumulation_steps)
    if {"gradient_accumulation_steps", "gradient_accumulation_plugin"} & _last.named:
        source = "Accelerator(gradient_accumulation_steps=…)"
        session.fire(Asked(subject="batch.accumulation", value=steps, source=source))
    elif os.environ.get(ACCUMULATION):
        session.fire(Implied(subject="batch.accumulation", owner=f"environment: {ACCUMULATION}"))


TURN = 1
DESCRIBERS = (Describer(describe, subjects=("precision", "precision outside", "batch.accumulation")),)
BINDS = {"accelerate.accelerator": bind_accelerator}
