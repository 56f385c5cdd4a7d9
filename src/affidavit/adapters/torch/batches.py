"""Batches: what enters the outermost callable in the sampled step, without touching what a compiler has compiled.

Source: critic-architect R2 (hooks under compile). Blind to: a model that is called inside a compiled function.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from affidavit.adapters.torch.compiler import is_called_inside
from affidavit.adapters.torch.handed import hear_names
from affidavit.attach.moment import Batch, Operations
from affidavit.attach.session import Session
from affidavit.fact.observation import Cause


def watch_batches(session: Session, step: int, outermost: Any) -> None:
    """Fire a Batch for each call of this module until the sampled step is over.

    A hook on a compiled model never fires, one inside a graph would break it. So: the wrapper around the compiled
    model gets an ordinary hook; a model compiled in place has the call it makes replaced on the instance.
    """
    if is_called_inside(outermost):
        why = f"{type(outermost).__name__} may be called from inside of a compiled function, which a hook would change"
        _unwatched(session, Cause.COMPILED, why)
        return
    name_arguments = _namer(outermost)
    seen = [0]

    @session.shielded
    def tell(args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        if session.sampling and torch.is_grad_enabled():
            seen[0] += 1
            if seen[0] == 1:
                hear_names(session, _inward(outermost), kwargs, sys._getframe(1))
            session.fire(Batch(step=step, inputs={**name_arguments(args), **kwargs}))

    release = _replace_compiled_call(outermost, tell) or _hook(outermost, tell)

    def finish() -> None:
        release()
        session.at_live.remove(finish)
        if not seen[0]:
            _unwatched(session, Cause.REPLACED, f"no call of {type(outermost).__name__} was seen in step {step}")

    session.at_live.append(finish)


def _unwatched(session: Session, cause: Cause, why: str) -> None:
    for kind in (Batch, Operations):
        session.unwatched(kind, cause, why)


def _hook(module: Any, tell: Callable[..., None]) -> Callable[[], None]:
    def before_forward(_module: object, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        if not torch.compiler.is_compiling():
            tell(args, kwargs)

    handle = module.register_forward_pre_hook(before_forward, with_kwargs=True)
    return handle.remove  # type: ignore[no-any-return]


def _replace_compiled_call(module: Any, tell: Callable[..., None]) -> Callable[[], None] | None:
    compiled = module.__dict__.get("_compiled_call_impl")
    if compiled is None:
        return None

    def call(*args: object, **kwargs: object) -> object:
        tell(args, kwargs)
        return compiled(*args, **kwargs)

    module.__dict__["_compiled_call_impl"] = call

    def release() -> None:
        if module.__dict__.get("_compiled_call_impl") is call:
            module.__dict__["_compiled_call_impl"] = compiled

    return release


def _namer(module: Any) -> Callable[[tuple[object, ...]], dict[str, object]]:
    """Return how positional arguments of a model are named, following wrappers to the forward that names them."""
    for inner in _inward(module):
        try:
            parameters = [
                parameter.name
                for parameter in inspect.signature(type(inner).forward).parameters.values()
                if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            ][1:]
        except (TypeError, ValueError):
            continue
        if parameters:
            return lambda args: dict(zip(parameters, args))
    return lambda args: {f"argument_{place}": value for place, value in enumerate(args)}


def _inward(module: Any) -> Iterator[Any]:
    """Yield a module and what it wraps: a compiled, parallel or adapted model each hold one child that is the model."""
    while module is not None:
        yield module
        children = [child for child in module._modules.values() if child is not None]
        module = children[0] if len(children) == 1 else None
