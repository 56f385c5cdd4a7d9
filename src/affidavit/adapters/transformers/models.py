"""Models as a loader returns them: what was asked of ``from_pretrained``, and the live model; where one is saved.

Source: transformers 4.57 and 5.24 modeling_utils; trl 1.16 trainer/utils (a model that is named by its path is float32
there; trl 0.24 leaves it open).
Blind to: weights that the script puts in afterwards.
"""

from __future__ import annotations

import functools
import sys
import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from affidavit.adapters.transformers.handed import tell_loaded
from affidavit.attach.moment import Asked, Implied, Loaded, TrainBegin
from affidavit.attach.saving import heard, is_main
from affidavit.attach.session import Session
from affidavit.fact.term import UNSTATED

THROUGH = ("transformers", "peft", "torch", "functools", "contextlib", "affidavit")
"""Packages that hand a script's keywords on to a loader as they are."""
FILLS = {"trl"}
"""Packages that name a type of their own where the script named none."""


@dataclass(frozen=True)
class _Load:
    """What one live model was asked to be loaded with: the type, "" where nobody named one, by which package, when."""

    model: weakref.ref[Any]
    type: str
    by: str
    at: float


_passed: dict[str, set[str]] = {}
"""Every name that a model was loaded with, by the package that gave it."""
_loads: dict[int, _Load] = {}
"""By identity; a model that dies takes its load along."""


def bind_loading(module: ModuleType, session: Session) -> None:
    model_class = module.PreTrainedModel
    load = model_class.__dict__["from_pretrained"].__func__

    @session.shielded
    def tell(model: Any, name: Any, kwargs: Mapping[str, Any], frame: FrameType | None) -> None:
        frame = _caller(frame)
        caller = "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        key = id(model)
        reference = weakref.ref(model, lambda _: _loads.pop(key, None))
        kind = "" if dtype is None else str(dtype).removeprefix("torch.")
        _loads[key] = _Load(model=reference, type=kind, by=caller, at=time.monotonic())
        _passed.setdefault(caller, set()).update(kwargs)
        session.fire(Loaded(kind="model", item=model, source=str(name)))
        tell_loaded(session, model, kwargs, frame)

    @functools.wraps(load)
    def loaded(cls: Any, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        found = load(cls, pretrained_model_name_or_path, *args, **kwargs)
        tell(found[0] if isinstance(found, tuple) else found, pretrained_model_name_or_path, kwargs, sys._getframe(1))
        return found

    model_class.from_pretrained = classmethod(loaded)


def bind_saving(module: ModuleType, session: Session) -> None:
    """Hear where a model is saved, by the loop or by the script once that is over."""
    model_class = module.PreTrainedModel
    save = model_class.save_pretrained
    model_class.save_pretrained = heard(save, session, form="pretrained", path="save_directory", writes=is_main)


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the frame that asked for a model, past packages that only hand the call on."""
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in THROUGH:
        frame = frame.f_back
    return frame


def are_passed(names: Iterable[str]) -> bool:
    """Whether a model was loaded by a package that fills in names of its own, or with one of these names."""
    return any(package in FILLS or not given.isdisjoint(names) for package, given in _passed.items())


def describe(moment: TrainBegin, session: Session) -> None:
    """Say in which type the model that trains was asked to be loaded, or who chose it."""
    from affidavit.adapters.torch.precision import cast_of

    load = next((_loads[id(module)] for module in moment.model.modules() if id(module) in _loads), None)  # type: ignore[attr-defined]
    cast = cast_of(moment.model)
    given = getattr(moment.arguments, "model_init_kwargs", None) or {}
    wished = given.get("dtype", given.get("torch_dtype", "auto"))
    if wished not in (None, "auto"):
        # Also where it came too late: a model that is handed over as an object was loaded without it.
        kind, source = str(wished).removeprefix("torch."), f"{type(moment.arguments).__name__}(model_init_kwargs=…)"
        session.fire(Asked(subject="weight precision", value=kind, source=source))
    elif load is None or (cast is not None and cast.at > load.at):
        return
    elif load.type in ("", "auto") or load.by in FILLS:
        owner = f"default of {load.by if load.by in FILLS and load.type else 'from_pretrained'}"
        owner = 'checkpoint, by from_pretrained(dtype="auto")' if load.type == "auto" else owner
        session.fire(Implied(subject="precision.weight_types", owner=owner))
        session.fire(Asked(subject="weight precision", value=UNSTATED, source=owner))
    else:
        session.fire(Asked(subject="weight precision", value=load.type, source="from_pretrained(dtype=…)"))
