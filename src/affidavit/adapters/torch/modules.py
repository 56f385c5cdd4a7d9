"""Which module of a process trains, and which wrapper around it is called. Looks through the interpreter's objects.

By type and identity only: nothing of theirs is called, and nothing is kept alive.
"""

from __future__ import annotations

import gc
from typing import Any

import torch


def find_model(optimizer: Any) -> Any | None:
    """Return the outermost module that owns parameters of this optimizer, or None where no module does.

    It looks through the interpreter's objects once, by type and without calling anything of theirs.
    """
    wanted = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    modules = [
        item for item in gc.get_objects() if issubclass(type(item), torch.nn.Module) and "_modules" in item.__dict__
    ]
    children = {id(child) for module in modules for child in module._modules.values() if child is not None}
    roots = [module for module in modules if id(module) not in children]
    owned = [(sum(id(p) in wanted for p in root.parameters()), root) for root in roots]
    best = max(owned, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def outermost(module: Any) -> Any:
    """Return the module through which the loop calls this one: the outermost wrapper that holds it."""
    while (owner := _owner(module)) is not None:
        module = owner
    return module


def _owner(module: Any) -> Any | None:
    for holder in gc.get_referrers(module):
        if type(holder) is not dict or not any(value is module for value in holder.values()):
            continue
        for body in gc.get_referrers(holder):
            if type(body) is dict and body.get("_modules") is holder:
                for owner in gc.get_referrers(body):
                    if issubclass(type(owner), torch.nn.Module) and owner.__dict__ is body:
                        return owner
    return None
