"""DeepSpeed → claims: what its own file and what it was handed want, and what the engine that it made has.

The file is a second config beside the script's: it may bring an optimizer, a schedule, clipping and counts of its own.
``auto`` in it leaves a value to whoever calls, and is no word. A file that Accelerate hands on was filled in already;
the one that was written is read again, where the arguments or the environment name it.

Source: deepspeed 0.14 to 0.18 ``initialize``, runtime/engine (an optimizer that is handed over beats the file's; until
0.16 a schedule of the file beat one that is handed over), runtime/lr_schedules; corpus L2-07 to L2-12.
Blind to: an engine that is made past ``deepspeed.initialize``; a file in base64. Tried with a stand-in of these rules
only: DeepSpeed wants a device.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from affidavit.adapters.torch.claims import (
    DECAY,
    OPTIMIZER,
    RATE,
    SCHEDULE,
    HandedOver,
    handed,
    innermost_of,
    number,
    optimizer_kind,
    saying,
)
from affidavit.attach.claim import Claim, Claimed
from affidavit.attach.moment import TrainBegin
from affidavit.attach.session import Describer, Session

HANDED = "handed to deepspeed.initialize"
FILE = "DeepSpeed config"
WRITTEN = "ACCELERATE_DEEPSPEED_CONFIG_FILE"
MOST_BYTES = 1 << 20
FILLED_BY = ("accelerate", "transformers")
NUMBERS = {
    "gradient clipping": "gradient_clipping",
    "gradient accumulation": "gradient_accumulation_steps",
    "rows a micro-batch": "train_micro_batch_size_per_gpu",
    RATE: "optimizer.params.lr",
    DECAY: "optimizer.params.weight_decay",
}
"""Subjects, and the keys by which the file speaks of them."""
PEAK = "scheduler.params.warmup_max_lr"


@dataclass
class _Engine:
    """The engine that was made last, what it was handed, and the config of whoever called."""

    find: Callable[[], Any] = lambda: None
    handed: tuple[HandedOver, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    is_filled: bool = False


_last = _Engine()


def bind_deepspeed(module: ModuleType, session: Session) -> None:
    build = module.initialize
    signature = inspect.signature(build)

    @session.shielded
    def remember(made: Any, given: dict[str, Any], caller: str) -> None:
        _last.find = weakref.ref(made[0])
        _last.handed = given["handed"]
        _last.config = given["config"]
        _last.is_filled = caller in FILLED_BY

    @functools.wraps(build)
    def built(*args: Any, **kwargs: Any) -> Any:
        given: dict[str, Any] = {}
        # Before: an engine fills its config in, and sets the rate of the optimizer.
        session.shielded(lambda: given.update(_given(signature.bind(*args, **kwargs).arguments)))()
        made = build(*args, **kwargs)
        if given:
            remember(made, given, str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0])
        return made

    module.initialize = built  # type: ignore[attr-defined]


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    items = (arguments.get("optimizer"), arguments.get("lr_scheduler"))
    config = arguments.get("config") or arguments.get("config_params")
    config = config or getattr(arguments.get("args"), "deepspeed_config", None)
    return {
        "handed": tuple(one for item in items if item is not None and (one := handed(item)) is not None),
        "config": _read(config),
    }


def _read(config: Any) -> Mapping[str, Any]:
    """Return the numbers and names of a config, which is a mapping or a file; nothing where it is neither."""
    if isinstance(config, str | os.PathLike):
        try:
            path = Path(config)
            config = json.loads(path.read_text()) if path.stat().st_size <= MOST_BYTES else None
        except (OSError, ValueError):  # no file, or none of ours to understand
            return {}
    if not isinstance(config, Mapping):
        return {}
    keys = (*NUMBERS.values(), PEAK, "optimizer.type", "scheduler.type", "optimizer", "scheduler")
    return {FILE: True, **{key: value for key in keys if (value := _at(config, key)) is not None}}


def _at(config: Any, key: str) -> Any:
    for part in key.split("."):
        config = config.get(part) if isinstance(config, Mapping) else None
    return True if isinstance(config, Mapping) else config


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the engine's file and what it was handed want of each value, and what the engine has."""
    engine = _last.find()
    if engine is None:
        return
    config = _last.config
    if _last.is_filled:
        config = _read(getattr(moment.arguments, "deepspeed", None) or os.environ.get(WRITTEN))
    optimizer, schedule = innermost_of(engine.optimizer), innermost_of(engine.lr_scheduler)
    live = {**saying(optimizer), **saying(schedule), **_counts(engine)}
    peak = getattr(schedule, "max_lrs", None)
    live = {**live, RATE: number(peak[0])} if peak else live
    for subject, claims in _by_file(config, type(schedule).__name__ if peak else "").items():
        session.fire(Claimed(subject=subject, claims=claims, live=live.get(subject, "")))
    for item in _last.handed:
        there = optimizer if OPTIMIZER in item.said else schedule
        for subject, claim in item.claims(HANDED, there).items():
            # The rate of an optimizer is what a schedule is to reach, and what it was handed with.
            claim = Claim(claim.owner, item.said[subject], claim.typed) if subject == RATE and peak else claim
            session.fire(Claimed(subject=subject, claims=(claim,), live=live.get(subject, "")))


def _counts(engine: Any) -> dict[str, str]:
    """Return what the engine's own counts are, whose names are those of its file."""
    found = {}
    for subject in ("gradient clipping", "gradient accumulation"):
        count = getattr(engine, NUMBERS[subject], None)
        value = count() if callable(count) else None
        if isinstance(value, int | float):
            found[subject] = number(value)
    return found


def _by_file(config: Mapping[str, Any], warming: str) -> dict[str, tuple[Claim, ...]]:
    """Return what a config says by subject, and the two defaults that come into force by what it leaves out."""
    found: dict[str, tuple[Claim, ...]] = {}
    for subject, key in NUMBERS.items():
        value = config.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[subject] = (Claim(f"{FILE}: {key}", number(value), typed=True),)
    for subject, key, worded in ((OPTIMIZER, "optimizer.type", optimizer_kind), (SCHEDULE, "scheduler.type", str)):
        value = config.get(key)
        if isinstance(value, str) and value != "auto":
            found[subject] = (Claim(f"{FILE}: {key}", worded(value), typed=True),)
    if config and "gradient_clipping" not in config:
        found["gradient clipping"] = (Claim(f"{FILE}, default of gradient_clipping", "0", typed=False),)
    peak = config.get(PEAK)
    if isinstance(peak, int | float):
        found[RATE] = (*found.get(RATE, ()), Claim(f"{FILE}: {PEAK}", number(peak), typed=True))
    elif config.get("scheduler.type") == warming and peak is None:
        found[RATE] = (*found.get(RATE, ()), Claim(f"{warming}, default of warmup_max_lr", "0.001", typed=False))
    return found


TURN = 2
DESCRIBERS = (Describer(describe, subjects=("config.owners",)),)
BINDS = {"deepspeed": bind_deepspeed}
