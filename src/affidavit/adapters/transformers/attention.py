"""What attention a model asked for, and what each of its layers is configured with.

The request is heard where every way of building a model passes it on, before the library resolves it:
``PreTrainedModel._check_and_adjust_attn_implementation``.

Source: hf-stack-spike §3; transformers 4.57, 5.24 modeling_utils.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from affidavit.attach.claim import Claim
from affidavit.attach.moment import Asked, Configured, Implied, TrainBegin, Unheard
from affidavit.attach.session import Session
from affidavit.fact.observation import Cause
from affidavit.fact.term import UNSTATED


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What one model was asked to use, and through what."""

    model: weakref.ref[Any]
    asked: str
    source: str


_requests: dict[int, _Request] = {}
"""What each live model was asked to use for attention. By identity: a model may be anything, also unhashable."""


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """Where requests are heard: the class, and our function in it."""

    model_class: type[Any]
    function: Callable[..., Any]

    def stands(self) -> bool:
        """Say whether our function is still the one that is called, directly or by what was put in front of it."""
        found = vars(self.model_class).get(self.function.__name__)
        while found is not None and found is not self.function:
            found = getattr(found, "__wrapped__", None)
        return found is self.function


_heard: _Heard | None = None


def bind_attention(module: ModuleType, session: Session) -> None:
    global _heard
    model_class = module.PreTrainedModel
    resolve = model_class._check_and_adjust_attn_implementation
    remember = session.shielded(_remember)

    @functools.wraps(resolve)
    def heard(self: Any, attn_implementation: Any, *args: Any, **kwargs: Any) -> Any:
        remember(self, _named(attn_implementation))
        return resolve(self, attn_implementation, *args, **kwargs)

    model_class._check_and_adjust_attn_implementation = heard
    _heard = _Heard(model_class=model_class, function=heard)


def _remember(model: Any, asked: str) -> None:
    """Keep what a model was first asked for by name; a later ask that differs is told beside it, not instead."""
    key = id(model)
    first = _requests.get(key)
    if first is None or first.asked == UNSTATED:
        reference = weakref.ref(model, lambda _: _requests.pop(key, None))
        _requests[key] = _Request(model=reference, asked=asked, source=f"{type(model).__name__}(attn_implementation=…)")
    elif asked != first.asked:
        _requests[key] = replace(first, source=f"{first.source.partition(', later')[0]}, later set to {asked}")


def _named(implementation: Any) -> str:
    if implementation is None:
        return UNSTATED
    if isinstance(implementation, Mapping):
        return ", ".join(f"{part or 'model'}: {name}" for part, name in implementation.items())
    return str(implementation)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what attention the model that trains asked for and is configured with, layer by layer."""
    modules = dict(moment.model.named_modules())  # type: ignore[attr-defined]
    _say_request(modules.values(), session)
    layers, source = _configured(modules)
    if layers:
        session.fire(Configured(subject="attention", layers=layers, source=source))


def claims_of(model: Any) -> tuple[Claim, ...]:
    """Return the claim of the call that made a model, where it was heard and named an implementation."""
    request = _requests.get(id(model))
    if request is None or request.asked == UNSTATED:
        return ()
    return (Claim(request.source, request.asked, typed=True, term="attention.requested"),)


def _configured(modules: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """Return the implementation of each attention module, and where it stands.

    Where no layer holds a config, the class of each was chosen by the config around it when the model was built, as
    in the older models of transformers 4. Torch's own attention asks no config.
    """
    attending = {path: module for path, module in modules.items() if "Attention" in type(module).__name__}
    own = {path: named for path, module in attending.items() if (named := _implementation(module))}
    if own:
        return own, "config of each attention module"
    inner = {
        path: _around(path, modules)
        for path, module in attending.items()
        if not type(module).__module__.startswith("torch.")
        and not any(other.startswith(f"{path}.") for other in attending)
    }
    return {path: named for path, named in inner.items() if named}, "config around each attention module"


def _implementation(module: Any) -> str:
    named = getattr(getattr(module, "config", None), "_attn_implementation", None)
    return "" if named is None else str(named)


def _around(path: str, modules: Mapping[str, Any]) -> str:
    while path:
        path = path.rpartition(".")[0]
        named = _implementation(modules[path])
        if named:
            return named
    return ""


def _say_request(modules: Iterable[Any], session: Session) -> None:
    models = [module for module in modules if _heard is not None and issubclass(type(module), _heard.model_class)]
    request = next((_requests[id(model)] for model in models if id(model) in _requests), None)
    if request is not None:
        session.fire(Asked(subject="attention", value=request.asked, source=request.source))
        if request.asked == UNSTATED:
            model = request.source.partition("(")[0]
            session.fire(Implied(subject="attention.configured", owner=f"default of {model}"))
    elif models and _heard is not None:
        name = _heard.function.__name__
        if _heard.stands():
            cause, why = (
                Cause.ATTACHED_LATE,
                f"{type(models[0]).__name__} did not pass {name}: copied, or built before us",
            )
        else:
            cause, why = Cause.REPLACED, f"PreTrainedModel.{name} was replaced by other code"
        session.fire(Unheard(subject="attention", cause=cause, why=why))
