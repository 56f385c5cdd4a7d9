"""Steps, for every loop: those that a framework drives, and the plain ones that only the optimizer shows.

A framework that brings a loop of its own claims it (:func:`begin_training`). What is left is seen through the two
optimizer hooks that torch offers to everybody; the model is then the outermost module that owns the optimizer's
parameters, which is known at the end of the first backward pass and not before.

Source: DESIGN §5.2. Blind to: a loop whose optimizer step is compiled, or is no ``torch.optim.Optimizer``.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from affidavit.adapters.torch.batches import watch_batches
from affidavit.adapters.torch.modules import called, find_model, one_look
from affidavit.adapters.torch.state import hide
from affidavit.adapters.torch.trace import trace_step
from affidavit.attach.moment import Batch, Gradients, Operations, TrainBegin, TrainEnd
from affidavit.attach.session import Session

PLAIN_LOOP = "plain loop"
_claimed: set[int] = set()
"""Sessions whose loop a framework drives; the optimizer hooks then stay silent."""
_plain: dict[int, _PlainLoop] = {}
"""What the optimizer hooks of a session know."""


def begin_training(session: Session, moment: TrainBegin) -> None:
    """Claim the loop for the framework that drives it, and say that training begins; a plain loop before it is over."""
    if id(session) in _plain:
        _plain[id(session)].end()
    _claimed.add(id(session))
    session.fire(moment)


def end_training(session: Session, step: int, error: str = "", *, exhausted: bool = False) -> None:
    session.fire(TrainEnd(step=step, error=error, exhausted=exhausted))
    _claimed.discard(id(session))


def begin_step(session: Session, step: int, find: Callable[[], Any]) -> None:
    """Say that a step begins; in the sampled one, watch what enters the module that ``find`` names, and what runs."""
    session.step_begin(step)
    if session.sampling and (session.listens(Batch) or session.listens(Operations)):
        with one_look():
            session.attempt(Batch, lambda: watch_batches(session, step, find()))
            session.attempt(Operations, lambda: trace_step(session, step))


def gradients_ready(session: Session, step: int, model: Any, optimizer: Any) -> None:
    if session.live:
        session.fire(Gradients(step=step, model=model, optimizer=optimizer))


def end_step(session: Session, step: int) -> None:
    session.step_end(step)


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
        self._strangers: list[Callable[[], Any]] = []

    def wants(self, optimizer: Any) -> bool:
        """Whether there is anything to be done before this optimizer's step; in most steps there is not."""
        return (self.session.live or self._optimizer() is None) and id(self.session) not in _claimed

    def pulse(self) -> None:
        """Say that the next step of this loop is about to be taken; all that it costs before a step."""
        self.session.pulse(self.step + 1)

    def before(self, optimizer: Any) -> None:
        if self._optimizer() is None and not self._may_begin(optimizer):
            return
        model = self._model()
        if optimizer is self._optimizer() and model is not None:
            gradients_ready(self.session, self.step + 1, model, optimizer)

    def after(self, optimizer: Any) -> None:
        self.step += 1
        if not self.session.counts:
            self.session.beat(self.step)
            return
        end_step(self.session, self.step)
        model = self._model()
        if self.session.counts and model is not None:
            begin_step(self.session, self.step + 1, functools.partial(called, model))

    def owns(self, optimizer: Any) -> bool:
        """Whether this is the optimizer of the loop."""
        return optimizer is self._optimizer() and id(self.session) not in _claimed

    def end(self) -> None:
        """Say that the loop is over, where one has begun."""
        if self.step:
            self.session.fire(TrainEnd(step=self.step))
        self.step = 0
        self._model = self._optimizer = _nothing

    def _may_begin(self, optimizer: Any) -> bool:
        """Begin with this optimizer, unless it trains no module; that is looked for once and not in every step."""
        if not self.session.welcomes or any(stranger() is optimizer for stranger in self._strangers):
            return False
        with one_look():
            return self._begins(optimizer)

    def _begins(self, optimizer: Any) -> bool:
        show = hide()  # a gradient that is asked for is a call that the run's own recorder would count
        try:
            model = find_model(optimizer)
        finally:
            show()
        if model is None:
            self._strangers = [stranger for stranger in self._strangers if stranger() is not None]
            self._strangers.append(weakref.ref(optimizer))
            return False
        self._begin(optimizer, model)
        return True

    def _begin(self, optimizer: Any, model: Any) -> None:
        self.end()
        self._model, self._optimizer = weakref.ref(model), weakref.ref(optimizer)
        driver = _driver()
        self.session.fire(TrainBegin(driver=driver, model=model, optimizer=optimizer, late=True))
        if driver != PLAIN_LOOP:
            self.session.note(f"{driver} drives this loop but never called us: it was replaced by other code")
        self.session.step_begin(1)


def _nothing() -> None:
    return None


def bind_optimizer(module: ModuleType, session: Session) -> None:
    loop = _plain[id(session)] = _PlainLoop(session)
    before, after = session.shielded(loop.before), session.shielded(loop.after)
    is_compiling = torch.compiler.is_compiling

    # The test comes first, so that a compiler that traces an optimizer's step finds nothing here to trace.
    def before_step(optimizer: Any, args: object, kwargs: object) -> None:
        if is_compiling():
            return
        if loop.wants(optimizer):
            before(optimizer)
        if loop.owns(optimizer):
            loop.pulse()

    def after_step(optimizer: Any, args: object, kwargs: object) -> None:
        if not is_compiling() and loop.owns(optimizer):
            after(optimizer)

    module.register_optimizer_step_pre_hook(before_step)
    module.register_optimizer_step_post_hook(after_step)


def _driver() -> str:
    """Say which framework's loop is on the stack, though it did not call us."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "_inner_training_loop":
            return f"{frame.f_globals.get('__name__', '?')}._inner_training_loop"
        frame = frame.f_back  # type: ignore[assignment]
    return PLAIN_LOOP
