"""Accelerate → requests: what an Accelerator was asked for by a script that drives its own loop.

The loop itself is plain: its optimizer is a wrapper around one of torch, whose hooks show each step that is taken.

Source: accelerate 1.15 accelerator (its own environment beats ``gradient_accumulation_steps``), utils/launch;
hf-stack-spike §4 (``gradient_accumulation_steps`` lies under a Trainer), §9; corpus L2-02, L2-03.
Blind to: an Accelerator that a Trainer made for itself; there the Trainer's arguments are the request. The launcher's
file is seen as the variables that the launcher makes of it.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from affidavit.adapters.torch.claims import ACCUMULATION, PRECISION, by_keyword, outside
from affidavit.attach.claim import Claimed
from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.options import hear_parsers
from affidavit.attach.saving import Call, heard
from affidavit.attach.session import Describer, Session

STEPS, PLUGIN = "gradient_accumulation_steps", "gradient_accumulation_plugin"


class _Last:
    """The Accelerator that was made last, what its maker wrote, and the micro-batches a step it came to then.

    Where a Trainer is its maker, and yet no Trainer's loop is heard, its words are not the script's.
    """

    def __init__(self) -> None:
        self.find: Callable[[], Any] = lambda: None
        self.given: Mapping[str, Any] = {}
        self.steps = 1
        self.is_trainers = False


_last = _Last()


def bind_accelerator(module: ModuleType, session: Session) -> None:
    hear_parsers(session.shielded)
    accelerator_class = module.Accelerator
    build = accelerator_class.__init__
    signature = inspect.signature(build)

    @session.shielded
    def remember(accelerator: Any, caller: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        _last.is_trainers = caller == "transformers"
        given = signature.bind(accelerator, *args, **kwargs).arguments
        _last.find = weakref.ref(accelerator)
        plugin = given.get(PLUGIN)
        _last.given = {
            name: value
            for name, value in (
                ("mixed_precision", given.get("mixed_precision")),
                (STEPS, given.get(STEPS)),
                (PLUGIN, getattr(plugin, "num_steps", None)),
            )
            if value is not None
        }
        _last.steps = int(accelerator.gradient_accumulation_steps)

    @functools.wraps(build)
    def built(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        caller = str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0]
        remember(self, caller, args, kwargs)

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
    _tell_precision(str(accelerator.mixed_precision), session)
    _tell_steps(int(accelerator.gradient_accumulation_steps), session)


def _tell_precision(precision: str, session: Session) -> None:
    said = os.environ.get(PRECISION, "no").lower()
    claims = outside(PRECISION, "precision.outside")
    if said != "no":
        session.fire(Asked(subject="precision outside", value=said, source=f"environment: {PRECISION}={said}"))
    if "mixed_precision" in _last.given:
        session.fire(Asked(subject="precision", value=precision, source="Accelerator(mixed_precision=…)"))
        given = _last.given["mixed_precision"]
        claims += (by_keyword("Accelerator", "mixed_precision", given, "precision.requested"),)
    else:
        owner = f"environment: {PRECISION}={said}" if said != "no" else "default of Accelerator"
        session.fire(Implied(subject="precision.matmul_types", owner=owner))
    if not _last.is_trainers:
        session.fire(Claimed(subject="mixed precision", claims=claims, live=precision))


def _tell_steps(steps: int, session: Session) -> None:
    named = [name for name in (STEPS, PLUGIN) if name in _last.given]
    # The environment beats the keyword, and is not asked where there is a plugin.
    if any(_last.given[name] == steps for name in named):
        source = "Accelerator(gradient_accumulation_steps=…)"
        session.fire(Asked(subject="batch.accumulation", value=steps, source=source))
    elif os.environ.get(ACCUMULATION):
        session.fire(Implied(subject="batch.accumulation", owner=f"environment: {ACCUMULATION}"))
    claims = (*outside(ACCUMULATION), *(by_keyword("Accelerator", name, _last.given[name]) for name in named))
    if not _last.is_trainers:
        session.fire(Claimed(subject="gradient accumulation", claims=claims, live=str(_last.steps)))


TURN = 1
DESCRIBERS = (Describer(describe, subjects=("precision", "precision outside", "batch.accumulation", "config.owners")),)
BINDS = {"accelerate.accelerator": bind_accelerator}
