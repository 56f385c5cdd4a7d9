"""PEFT → moments: which modules were asked to be adapted, and which carry an adapter with which parameters.

Source: peft 0.21 tuners/tuners_utils (``BaseTunerLayer``); corpus L2 (a partial typo is silent).
Blind to: a regular expression as ``target_modules`` is one asked name; which part of it matched nothing is not seen.
"""

from __future__ import annotations

import functools
import math
import re
import sys
import weakref
from collections.abc import Mapping
from typing import Any

from affidavit.attach.moment import Adapted, TrainBegin
from affidavit.attach.saving import heard, is_main
from affidavit.attach.session import Describer, Session

TURN = 2


def _bind_states(module: Any, session: Session) -> None:
    """Hear what of an adapter's file found a place; PEFT itself warns at most, and its callers drop what it returns."""
    # Not above: to look for this module is no reason to import torch.
    from affidavit.adapters.torch.weights import Put, remember, telling

    load = module.set_peft_model_state_dict

    @session.shielded
    def tell(model: Any, tensors: int, adapter: str, found: Any) -> None:
        config = getattr(model, "peft_config", {}).get(adapter)
        if getattr(config, "is_prompt_learning", False):
            return  # its tensors lie in an encoder, past what is returned
        missing = tuple(name for name in found.missing_keys if adapter in name.split("."))
        put = Put(
            item=weakref.ref(model),
            kind="adapter",
            source=f"adapter {adapter!r} of {type(model).__name__}",
            tensors=tensors,
            taken=tensors - len(found.unexpected_keys),
            names=frozenset(),
            read=lambda: {"missing": missing},
        )
        remember(put)

    @functools.wraps(load)
    def set_peft_model_state_dict(
        model: Any, peft_model_state_dict: Any, adapter_name: str = "default", *args: Any, **kwargs: Any
    ) -> Any:
        tensors = len(peft_model_state_dict)
        with telling():
            found = load(model, peft_model_state_dict, adapter_name, *args, **kwargs)
        tell(model, tensors, adapter_name, found)
        return found

    module.set_peft_model_state_dict = set_peft_model_state_dict


def _bind_saving(module: Any, session: Session) -> None:
    """Hear where an adapter is saved; one that was merged is saved as the model that it became."""
    model_class = module.PeftModel
    save = model_class.save_pretrained
    model_class.save_pretrained = heard(save, session, form="adapter", path="save_directory", writes=is_main)


BINDS = {"peft.utils.save_and_load": _bind_states, "peft.peft_model": _bind_saving}


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
    copies = _copies(moment.model, tuners)
    asked = (
        *asked,
        *sorted(set(getattr(config, "modules_to_save", None) or ()) - set(asked)),
        *_no_layer(config, layers),
    )
    kind = str(getattr(getattr(config, "peft_type", None), "value", None) or "unnamed").lower()
    source = f"{type(config).__name__}(target_modules=…)"
    modules = {path: _parameters(layer) for path, layer in layers.items()} | copies
    settings = {path: told for path, layer in layers.items() if kind == "lora" and (told := _settings(layer))}
    configured = {path: _configured(config, path) for path in settings}
    session.fire(
        Adapted(kind=kind, asked=asked, modules=modules, source=source, settings=settings, configured=configured)
    )


def _copies(model: Any, tuners: Any) -> dict[str, tuple[Any, ...]]:
    """Return the modules of which PEFT trains a copy (``modules_to_save``), with the parameters of that."""
    wrapper_class = (
        getattr(tuners, "ModulesToSaveWrapper", None) or sys.modules["peft.utils.other"].ModulesToSaveWrapper
    )
    return {
        path: tuple(parameter for copy in module.modules_to_save.values() for parameter in copy.parameters())
        for path, module in model.named_modules()
        if isinstance(module, wrapper_class)
    }


def _no_layer(config: Any, layers: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what ``layers_to_transform`` asks for and no adapted module has, so that it matches nothing."""
    wanted = getattr(config, "layers_to_transform", None)
    wanted = [wanted] if isinstance(wanted, int) else list(wanted or ())
    there = {part for path in layers for part in path.split(".") if part.isdecimal()}
    return tuple(f"layers_to_transform={index}" for index in wanted if str(index) not in there)


def _active_config(model: Any) -> Any | None:
    for module in model.modules():
        configs = module.__dict__.get("peft_config")
        if isinstance(configs, dict) and configs:
            active = getattr(module, "active_adapter", None)
            names = (active,) if isinstance(active, str) else tuple(active or ())
            return next((configs[name] for name in names if name in configs), next(iter(configs.values())))
    return None


def _settings(layer: Any) -> str:
    """Return rank, scale and dropout of a layer's active adapter as it runs; "" where it has none of its own."""
    name = next((name for name in layer.active_adapters if name in getattr(layer, "scaling", {})), None)
    if name is None:
        return ""
    held = layer.lora_A[name].weight if name in layer.lora_A else layer.lora_embedding_A.get(name)
    is_plain = getattr(held, "ndim", 0) == 2 and not hasattr(layer, "parameter_name")
    rank = held.shape[0] if is_plain else layer.r[name]
    dropout = getattr(layer.lora_dropout[name], "p", 0.0) if name in layer.lora_dropout else 0.0
    return _worded(rank, layer.scaling[name], dropout)


def _configured(config: Any, path: str) -> str:
    """Return what a config asks of the adapter at a path; a pattern that names the path comes first."""
    rank = _for_path(getattr(config, "rank_pattern", None), path, config.r)
    alpha = _for_path(getattr(config, "alpha_pattern", None), path, config.lora_alpha)
    per_rank = math.sqrt(rank) if getattr(config, "use_rslora", False) else rank
    return _worded(rank, alpha / per_rank, config.lora_dropout)


def _for_path(pattern: Mapping[str, Any] | None, path: str, otherwise: Any) -> Any:
    return next((value for key, value in (pattern or {}).items() if re.match(rf"(.*\.)?({key})$", path)), otherwise)


def _worded(rank: int, scale: float, dropout: float) -> str:
    return f"rank {rank}, scale {float(scale):g}, dropout {float(dropout):g}"


def _parameters(layer: Any) -> tuple[Any, ...]:
    names = layer.adapter_layer_names
    return tuple(parameter for name in names for parameter in getattr(layer, name).parameters())


DESCRIBERS = (Describer(describe, shows=(Adapted,)),)
