"""Which module of a process trains, and which wrapper around it is called. Looks through the interpreter's objects.

By type and identity only: nothing of theirs is called, and nothing is kept alive.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.data import dataloader as data

LOOKED_FOR = (
    torch.nn.Module,
    torch.optim.lr_scheduler.LRScheduler,
    data.DataLoader,
    data._BaseDataLoaderIter,
    torch.profiler.ExecutionTraceObserver,
)
"""What is looked for among all objects; a look takes 0.1 s where there are a million, so questions share one."""
_seen: list[Any] | None = None


@contextmanager
def one_look() -> Iterator[None]:
    """Answer every :func:`alive` inside from one look at all objects; what it saw is held no longer than that."""
    global _seen
    _seen = alive(*LOOKED_FOR)
    try:
        yield
    finally:
        _seen = None


def find_model(optimizer: Any) -> Any | None:
    """Return the outermost module that owns parameters of this optimizer, or None where no module does.

    An optimizer of which no tensor got a gradient steps for nothing: it was built for the model that did get some.
    """
    held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    wanted = {id(parameter) for parameter in held}
    modules = _modules()
    children = {id(child) for module in modules for child in module._modules.values() if child is not None}
    roots = [module for module in modules if id(module) not in children]
    owned = [(sum(id(parameter) in wanted for parameter in _parameters(root)), root) for root in roots]
    if not any(count for count, _ in owned) and not any(map(_has_gradient, held)):
        owned = [(sum(map(_has_gradient, _parameters(root))), root) for root in roots]
    best = max(owned, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def called(model: Any) -> Any:
    """Return the module through which a loop calls this one.

    A wrapper (compiled, parallel, adapted) holds the model as its one child and is called in its place. A container
    cannot be called: then it is the child that holds most of what trains.
    """
    wrappers = {id(inner[0]): module for module in _modules() if len(inner := _children(module)) == 1}
    seen = {id(model)}
    while (wrapper := wrappers.get(id(model))) is not None and id(wrapper) not in seen and _has_forward(wrapper):
        model = wrapper
        seen.add(id(model))
    while not _has_forward(model) and _children(model):
        model = max(_children(model), key=_trainable)
    return model


def alive(*parents: type[Any]) -> list[Any]:
    """Return every object of these classes, which are among those that are looked for, or of derived ones.

    By type: isinstance would ask a lazy object what it stands for, and that loads it.
    """
    kinds, pending = {*parents}, [*parents]
    while pending:
        pending = [kind for parent in pending for kind in type.__subclasses__(parent) if kind not in kinds]
        kinds.update(pending)
    return [item for item in (gc.get_objects() if _seen is None else _seen) if type(item) in kinds]


def _modules() -> list[Any]:
    return [module for module in alive(torch.nn.Module) if "_modules" in module.__dict__]


def _children(module: Any) -> list[Any]:
    return [child for child in module._modules.values() if child is not None]


def _parameters(module: Any) -> list[Any]:
    """Return each parameter below a module once; by its own dictionaries, since the methods may be anybody's."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    pending = [module]
    while pending:
        inner = pending.pop()
        if id(inner) not in seen:
            seen.add(id(inner))
            found.update((id(one), one) for one in inner.__dict__["_parameters"].values() if one is not None)
            pending += _children(inner)
    return list(found.values())


def _has_gradient(parameter: Any) -> bool:
    # To ask a tensor in the middle of a graph for its gradient prints a warning.
    return bool(parameter.is_leaf) and parameter.grad is not None


def _has_forward(module: Any) -> bool:
    return type(module).forward is not torch.nn.Module.forward or "forward" in module.__dict__


def _trainable(module: Any) -> int:
    return sum(parameter.numel() for parameter in _parameters(module) if parameter.requires_grad)
