"""The compiler: what of ours it must not see, and whether a model is called from inside of what it compiled.

Source: critic-architect R1, R2; measured here: the audit hook that runs while a compiled function imports something was
compiled itself, and a hook on a model inside of a compiled function makes that recompile when it is taken away.
Blind to: a compiled function that has left the compiler's list of its last compilations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from affidavit.attach.session import Session


def bind_eval_frame(module: ModuleType, session: Session) -> None:
    """Tell the compiler to leave alone what of ours may run inside of a compiled function: audit hook and finder."""
    early = sys.modules["_affidavit_early"]
    for code in _codes(early):
        module.skip_code(code)


def _codes(module: ModuleType) -> Iterator[CodeType]:
    """Yield the code of every function of a module, of its classes and inside of other functions."""
    owners = [vars(module)] + [vars(item) for item in vars(module).values() if isinstance(item, type)]
    pending = [item.__code__ for owner in owners for item in owner.values() if isinstance(item, FunctionType)]
    while pending:
        code = pending.pop()
        if code.co_filename == module.__file__:
            yield code
            pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def is_wrapped(module: Any) -> bool:
    """Say whether this very module is compiled, wrapped or in place, so that what it is called through is outside."""
    return "_orig_mod" in module._modules or module.__dict__.get("_compiled_call_impl") is not None


def is_called_inside(model: Any) -> bool:
    """Say whether an uncompiled model may be called from inside of a compiled function; then no hook is safe on it.

    A compiled function that took in parameters called a module. Where no part of this model is compiled itself, that
    module may be this one.
    """
    metrics = sys.modules.get("torch._dynamo.utils")
    if metrics is None or any(is_wrapped(module) for module in model.modules()):
        return False
    compiled = metrics.get_compilation_metrics()
    return any(getattr(one, "param_count", True) for one in compiled)
