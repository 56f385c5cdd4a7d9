"""A stand-in for DeepSpeed, which wants a device: as much of ``initialize`` as decides whose word an engine takes.

Its rules are those of DeepSpeed 0.14: an optimizer that is handed over beats the file's, a schedule of the file beats
one that is handed over, ``WarmupLR`` has a peak of its own, and clipping is the file's alone.
"""

import json
from pathlib import Path

import torch


class WarmupLR(torch.optim.lr_scheduler.LRScheduler):
    """Warms up to its own peak, whatever the optimizer was given."""

    def __init__(self, optimizer, warmup_min_lr=0.0, warmup_max_lr=0.001, warmup_num_steps=1000) -> None:
        self.max_lrs = [warmup_max_lr for _ in optimizer.param_groups]
        self.warmup_num_steps = warmup_num_steps
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        """The rate of each group."""
        share = min(1.0, (self.last_epoch + 1) / self.warmup_num_steps)
        return [rate * share for rate in self.max_lrs]


class DeepSpeedEngine:
    """Steps a model as its config says."""

    def __init__(self, model, optimizer, scheduler, config) -> None:
        self.module, self.optimizer, self.lr_scheduler, self._config = model, optimizer, scheduler, config

    def __call__(self, *rows):
        return self.module(*rows)

    def gradient_clipping(self) -> float:
        return self._config.get("gradient_clipping", 0.0)

    def gradient_accumulation_steps(self) -> int:
        return self._config.get("gradient_accumulation_steps", 1)

    def backward(self, loss) -> None:
        loss.backward()

    def step(self) -> None:
        if self.gradient_clipping():
            torch.nn.utils.clip_grad_norm_(self.module.parameters(), self.gradient_clipping())
        self.optimizer.step()
        self.lr_scheduler.step()
        self.optimizer.zero_grad()


def initialize(args=None, model=None, optimizer=None, model_parameters=None, lr_scheduler=None, config=None):
    """Return the engine, its optimizer, no loader, and its schedule."""
    settings = config if isinstance(config, dict) else json.loads(Path(config).read_text())
    if optimizer is None:
        wanted = settings["optimizer"]
        optimizer = getattr(torch.optim, wanted["type"])(model_parameters or model.parameters(), **wanted["params"])
    if "scheduler" in settings:
        wanted = settings["scheduler"]
        kinds = {"WarmupLR": WarmupLR}
        kind = kinds.get(wanted["type"]) or getattr(torch.optim.lr_scheduler, wanted["type"])
        lr_scheduler = kind(optimizer, **wanted.get("params", {}))
    engine = DeepSpeedEngine(model, optimizer, lr_scheduler, settings)
    return engine, optimizer, None, engine.lr_scheduler
