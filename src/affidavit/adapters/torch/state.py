"""State of torch that an instrument must give back, where a process stands, and what a rehearsal protects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
import torch.utils._python_dispatch

from affidavit.attach import veto
from affidavit.attach.saving import heard
from affidavit.attach.session import Session, Standing


def hide() -> Callable[[], None]:
    """Hide what an instrument computes from every profiler, trace and mode, the run's own and ours.

    A user counts operations to compare two runs; ours are not the run's.
    """
    stack = ExitStack()
    torch._C._autograd._enable_record_function(False)
    stack.callback(torch._C._autograd._enable_record_function, True)
    stack.enter_context(torch._C.DisableTorchFunction())
    stack.enter_context(torch.utils._python_dispatch._disable_current_modes())
    return stack.close


def keep_random_state() -> Callable[[], None]:
    state = torch.get_rng_state()
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def restore() -> None:
        torch.set_rng_state(state)
        if devices:
            torch.cuda.set_rng_state_all(devices)

    return restore


def keep_modes() -> Callable[[], None]:
    grad = torch.is_grad_enabled()
    deterministic, benchmark = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark

    def restore() -> None:
        torch.set_grad_enabled(grad)
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = deterministic, benchmark

    return restore


def standing() -> Standing:
    """Return the rank as the process group says it; without one this process stands alone, whatever its environment."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return Standing(rank=0, world=1)
    return Standing(distributed.get_rank(), distributed.get_world_size(), str(distributed.get_backend()))


def bind_serialization(module: Any, session: Session) -> None:
    """Hear what ``torch.save`` saves; in a rehearsal, send it to scratch where there is such a file.

    It writes natively, past every audit.
    """
    protector = veto.active()
    if protector is None:
        module.save = torch.save = heard(module.save, session, form="file", path="f")
        return
    module.save = torch.save = protector.redirecting(module.save, place=1, name="f")
