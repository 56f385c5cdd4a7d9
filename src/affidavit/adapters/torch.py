"""PyTorch → moments: steps of a plain loop, batches entering a model, random state, ranks.

Frameworks that bring a loop of their own claim it (:func:`begin_training`); what is left is a plain loop, seen through
the two optimizer hooks that torch offers to everybody. The model is then the outermost module that owns the
optimizer's parameters, which is known at the end of the first backward pass and not before.

Source: critic-architect R2 (hooks under compile), DESIGN §5.2 and §5.7.
Blind to: a loop whose optimizer step is itself compiled or is no ``torch.optim.Optimizer``.
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch

from affidavit.attach.moment import Batch, Gradients, TrainBegin, TrainEnd
from affidavit.attach.session import Session, Standing
from affidavit.fact.observation import Cause

PLAIN_LOOP = "plain loop"
_claimed: set[int] = set()
"""Sessions whose loop a framework drives; the optimizer hooks then stay silent."""


# --- what adapters of loops call --------------------------------------------------------------------------------


def begin_training(session: Session, moment: TrainBegin) -> None:
    """Claim the loop for the framework that drives it, and say that training begins."""
    _claimed.add(id(session))
    session.fire(moment)


def end_training(session: Session, step: int, error: str = "") -> None:
    session.fire(TrainEnd(step=step, error=error))
    _claimed.discard(id(session))


def begin_step(session: Session, step: int, model: Any) -> None:
    """Say that a step begins; in the sampled one, watch what enters the model."""
    session.step_begin(step)
    if session.sampling and session.listens(Batch):
        _watch(session, step, model)


def gradients_ready(session: Session, step: int, model: Any, optimizer: Any) -> None:
    if session.live:
        session.fire(Gradients(step=step, model=model, optimizer=optimizer))


def end_step(session: Session, step: int) -> None:
    session.step_end(step)


# --- a plain loop -----------------------------------------------------------------------------------------------


class _PlainLoop:
    """Two global optimizer hooks, and what they have learnt of the loop that calls them.

    Model and optimizer are held weakly: a run that drops them to free memory must get it. A loop whose optimizer is
    gone is over, and the next optimizer begins the next episode.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step = 0
        self._model: Callable[[], Any] = _nothing
        self._optimizer: Callable[[], Any] = _nothing

    def before(self, optimizer: Any, args: object, kwargs: object) -> None:
        if torch.compiler.is_compiling() or id(self.session) in _claimed:
            return
        if self._optimizer() is None and not self._begin(optimizer):
            return
        model = self._model()
        if optimizer is self._optimizer() and model is not None:
            gradients_ready(self.session, self.step + 1, model, optimizer)

    def after(self, optimizer: Any, args: object, kwargs: object) -> None:
        if torch.compiler.is_compiling() or id(self.session) in _claimed or optimizer is not self._optimizer():
            return
        self.step += 1
        end_step(self.session, self.step)
        model = self._model()
        if self.session.live and model is not None:
            begin_step(self.session, self.step + 1, model)

    def _begin(self, optimizer: Any) -> bool:
        model = find_model(optimizer)
        if model is None:
            return False
        if self.step:
            self.session.fire(TrainEnd(step=self.step))
        self.step = 0
        self._model, self._optimizer = weakref.ref(model), weakref.ref(optimizer)
        driver = _driver()
        self.session.fire(TrainBegin(driver=driver, model=model, optimizer=optimizer, late=True))
        if driver != PLAIN_LOOP:
            self.session.note(f"{driver} drives this loop but never called us: it was replaced by other code")
        self.session.step_begin(1)
        return True


def _nothing() -> None:
    return None


def _bind_optimizer(module: ModuleType, session: Session) -> None:
    loop = _PlainLoop(session)
    module.register_optimizer_step_pre_hook(loop.before)
    module.register_optimizer_step_post_hook(loop.after)


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


def _driver() -> str:
    """Say which framework's loop is on the stack, though it did not call us."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "_inner_training_loop":
            return f"{frame.f_globals.get('__name__', '?')}._inner_training_loop"
        frame = frame.f_back  # type: ignore[assignment]
    return PLAIN_LOOP


# --- batches ----------------------------------------------------------------------------------------------------


def _watch(session: Session, step: int, model: Any) -> None:
    """Fire a Batch for each call of the outermost callable until the sampled step is over.

    A hook on a compiled model never fires, one inside a graph would break it. So: the wrapper around the compiled
    model gets an ordinary hook; a model compiled in place has the call it makes replaced on the instance.
    """
    outermost = _outermost(model)
    name_arguments = _namer(outermost)
    seen = [0]

    def tell(args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        if session.sampling and torch.is_grad_enabled():
            seen[0] += 1
            session.fire(Batch(step=step, inputs={**name_arguments(args), **kwargs}))

    release = _replace_compiled_call(outermost, tell) or _hook(outermost, tell)

    def finish() -> None:
        release()
        session.at_live.remove(finish)
        if not seen[0]:
            compiled = "torch._dynamo" in sys.modules and bool(torch._dynamo.utils.counters["frames"])
            cause = Cause.COMPILED if compiled else Cause.REPLACED
            session.unwatched(Batch, cause, f"no call of {type(outermost).__name__} was seen in step {step}")

    session.at_live.append(finish)


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


def _outermost(module: Any) -> Any:
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


# --- state and standing -----------------------------------------------------------------------------------------


def _keep_random_state() -> Callable[[], None]:
    state = torch.get_rng_state()
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def restore() -> None:
        torch.set_rng_state(state)
        if devices:
            torch.cuda.set_rng_state_all(devices)

    return restore


def _keep_modes() -> Callable[[], None]:
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


KEEPERS = (_keep_random_state, _keep_modes)
BINDS = {"torch.optim.optimizer": _bind_optimizer}
