"""What a script asks of a module's element type by name: ``model.to(torch.bfloat16)``, ``model.half()`` and their kin.

A cast that a library makes is not the script's word, and one of a part says nothing of the whole.

Source: torch 2.13 nn/modules/module. Blind to: ``torch.set_default_dtype``; weights that are cast one by one.
"""

from __future__ import annotations

import functools
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import torch

from affidavit.attach.moment import Asked, TrainBegin
from affidavit.attach.session import Session
from affidavit.fact.term import UNSTATED

NAMED = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
"""Methods whose name is the type."""
_LIBRARIES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Cast:
    """The last cast of one module that the script asked for, and when."""

    module: weakref.ref[Any]
    type: str
    source: str
    at: float


_casts: dict[int, Cast] = {}
"""By identity; a module that dies takes its cast along."""


def bind_casts(module: ModuleType, session: Session) -> None:
    module_class = module.Module
    remember = session.shielded(_remember)
    module_class.to = _told(module_class.to, "", remember)
    for name, kind in NAMED.items():
        setattr(module_class, name, _told(getattr(module_class, name), kind, remember))


def _told(cast: Callable[..., Any], kind: str, remember: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(cast)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = kind or _named((*args, *kwargs.values()))
        if asked and _by_script(self, sys._getframe(1)):
            remember(self, asked, f"{type(self).__name__}.{cast.__name__}({'' if kind else f'torch.{asked}'})")
        return cast(self, *args, **kwargs)

    return told


def _by_script(module: Any, frame: FrameType | None) -> bool:
    """Say whether a cast was called for by the script, past a library's own version of the method."""
    while frame is not None and any(place in frame.f_code.co_filename for place in _LIBRARIES):
        if frame.f_locals.get("self") is not module:
            return False
        frame = frame.f_back
    return frame is not None


def _named(given: tuple[Any, ...]) -> str:
    found = next((one for one in given if isinstance(one, torch.dtype) and one.is_floating_point), None)
    return "" if found is None else str(found).removeprefix("torch.")


def _remember(module: Any, kind: str, source: str) -> None:
    key = id(module)
    reference = weakref.ref(module, lambda _: _casts.pop(key, None))
    _casts[key] = Cast(module=reference, type=kind, source=source, at=time.monotonic())


def cast_of(model: Any) -> Cast | None:
    """Return the last cast that the script asked for of this model, or of a part that holds most of its weights."""
    if not _casts:
        return None
    total = sum(weight.numel() for weight in model.parameters())
    found = [
        _casts[id(module)]
        for module in model.modules()
        if id(module) in _casts and 2 * sum(weight.numel() for weight in module.parameters()) > total
    ]
    return max(found, key=lambda cast: cast.at, default=None)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say in which type the script asked to hold the weights; torch has no argument that asks for a way to compute."""
    for subject in ("precision", "precision outside"):
        session.fire(Asked(subject=subject, value=UNSTATED, source="torch takes no such argument"))
    cast = cast_of(moment.model)
    value, source = (UNSTATED, "no cast of the whole model was seen") if cast is None else (cast.type, cast.source)
    session.fire(Asked(subject="weight precision", value=value, source=source))
