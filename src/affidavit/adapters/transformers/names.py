"""What the names of optimizers and schedules stand for: the class, or the function, that the Trainer makes of them.

Source: transformers 5.24 training_args (``OptimizerNames``), trainer_utils (``SchedulerType``), optimization.
Blind to: optimizers of packages that are seldom there; such a name is no request that we could hold against a class.
"""

from __future__ import annotations

from typing import Any

_BITSANDBYTES = {"adamw": "AdamW", "lion": "Lion", "rmsprop": "RMSprop", "ademamix": "AdEMAMix"}
_OPTIMIZERS = {
    "adamw_torch": "AdamW",
    "adamw_torch_fused": "AdamW",
    "adamw_torch_npu_fused": "AdamW",
    "adafactor": "transformers.Adafactor",
    "sgd": "SGD",
    "adagrad": "Adagrad",
    "rmsprop": "RMSprop",
    "adamw_bnb_8bit": "bitsandbytes.AdamW",
    **{f"{name}_8bit": f"bitsandbytes.{kind}" for name, kind in _BITSANDBYTES.items()},
    **{f"paged_{name}_{bits}bit": f"bitsandbytes.{kind}" for name, kind in _BITSANDBYTES.items() for bits in (8, 32)},
}
_SCHEDULES = {
    "constant_with_warmup": "constant",
    "cosine_with_restarts": "cosine_with_hard_restarts",
    "cosine_with_min_lr": "cosine",
    "cosine_warmup_with_min_lr": "cosine_with_min_lr",
    "polynomial": "polynomial_decay",
    "warmup_stable_decay": "wsd",
    "reduce_lr_on_plateau": "ReduceLROnPlateau",
    "greedy": "GreedyLR",
}


def optimizer_class(value: Any) -> str | None:
    """Return the class that an ``optim`` stands for, as our facts name it; None where we do not know."""
    return _OPTIMIZERS.get(str(getattr(value, "value", value)))


def schedule_kind(value: Any) -> str | None:
    """Return the schedule that an ``lr_scheduler_type`` stands for, as our facts name it."""
    name = str(getattr(value, "value", value))
    return _SCHEDULES.get(name, name)
