"""Models as a loader returns them: what was asked of ``from_pretrained``, and the live model.

Source: transformers 5.24 modeling_utils. Blind to: weights that the script puts in afterwards.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from affidavit.attach.moment import Asked, Implied, Loaded, TrainBegin
from affidavit.attach.session import Session

_dtypes: dict[int, tuple[weakref.ref[Any], str]] = {}
"""The element type each live model was asked to be loaded with, "" where nobody named one. By identity."""


def bind_loading(module: ModuleType, session: Session) -> None:
    model_class = module.PreTrainedModel
    load = model_class.__dict__["from_pretrained"].__func__

    @session.shielded
    def tell(model: Any, name: Any, kwargs: Mapping[str, Any]) -> None:
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        key = id(model)
        reference = weakref.ref(model, lambda _: _dtypes.pop(key, None))
        _dtypes[key] = reference, "" if dtype is None else str(dtype).removeprefix("torch.")
        session.fire(Loaded(kind="model", item=model, source=str(name)))

    @functools.wraps(load)
    def loaded(cls: Any, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        found = load(cls, pretrained_model_name_or_path, *args, **kwargs)
        tell(found[0] if isinstance(found, tuple) else found, pretrained_model_name_or_path, kwargs)
        return found

    model_class.from_pretrained = classmethod(loaded)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say with which element type the model that trains was asked to be loaded, or who chose it."""
    held = [_dtypes[id(module)][1] for module in moment.model.modules() if id(module) in _dtypes]  # type: ignore[attr-defined]
    if held and held[0] not in ("", "auto"):
        session.fire(Asked(subject="precision.weights", value=held[0], source="from_pretrained(dtype=…)"))
    elif held:
        owner = 'checkpoint, by from_pretrained(dtype="auto")' if held[0] else "default of from_pretrained"
        session.fire(Implied(subject="precision.weights", owner=owner))
