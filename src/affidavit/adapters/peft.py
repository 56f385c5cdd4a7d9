"""PEFT → moments: which modules were asked to be adapted, and which carry an adapter with which parameters.

Source: peft 0.21 tuners/tuners_utils (``BaseTunerLayer``); corpus L2 (a partial typo is silent).
Blind to: a regular expression as ``target_modules`` is one asked name; which part of it matched nothing is not seen.
"""

from __future__ import annotations

import sys
from typing import Any

from affidavit.attach.moment import Adapted, TrainBegin
from affidavit.attach.session import Describer, Session

BINDS: dict[str, Any] = {}
TURN = 2


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the active adapter of the model that trains was asked to adapt, and every module that it did."""
    tuners = sys.modules.get("peft.tuners.tuners_utils")
    if tuners is None:
        return
    layer_class = tuners.BaseTunerLayer
    layers = {
        path: module
        for path, module in moment.model.named_modules()  # type: ignore[attr-defined]
        if isinstance(module, layer_class)
    }
    config = _active_config(moment.model)
    if config is None and not layers:
        return
    targets = getattr(config, "target_modules", None)
    asked = (targets,) if isinstance(targets, str) else tuple(sorted(targets or ()))
    kind = str(getattr(getattr(config, "peft_type", None), "value", None) or "unnamed").lower()
    source = f"{type(config).__name__}(target_modules=…)"
    modules = {path: _parameters(layer) for path, layer in layers.items()}
    session.fire(Adapted(kind=kind, asked=asked, modules=modules, source=source))


def _active_config(model: Any) -> Any | None:
    for module in model.modules():
        configs = module.__dict__.get("peft_config")
        if isinstance(configs, dict) and configs:
            active = getattr(module, "active_adapter", None)
            names = (active,) if isinstance(active, str) else tuple(active or ())
            return next((configs[name] for name in names if name in configs), next(iter(configs.values())))
    return None


def _parameters(layer: Any) -> tuple[Any, ...]:
    names = layer.adapter_layer_names
    return tuple(parameter for name in names for parameter in getattr(layer, name).parameters())


DESCRIBERS = (Describer(describe, shows=(Adapted,)),)
