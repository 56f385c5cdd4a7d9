"""Lightning → moments: the fit loop, and what its Trainer was asked for.

The loop is heard where the Trainer calls its callbacks, so no callback of ours stands in the user's list or checkpoint.
Forward and backward run inside of ``optimizer.step(closure)``, so the optimizer's own hooks would see a step begin
after the one before it ended: the loop is claimed.

Source: lightning 2.6 trainer/call, loops/training_epoch_loop, plugins/precision; hf-stack-spike §9.
Blind to: the second and later optimizers of a manual loop; a batch that never enters the module's largest part.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from affidavit.adapters.torch.loop import begin_step, begin_training, end_step, end_training, gradients_ready
from affidavit.attach.heartbeat import Phase
from affidavit.attach.moment import Asked, Implied, MicroBatch, TrainBegin
from affidavit.attach.saving import Call, heard
from affidavit.attach.session import Describer, Session
from affidavit.attach.wrapper import innermost

DRIVER = "lightning.Trainer"
_asked: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""The precision each Trainer was asked for, by its connector, before that resolves it; "" where nobody asked."""


class _Fit:
    """One ``fit`` in progress: where an optimizer step begins and ends among its batches."""

    def __init__(self, session: Session, trainer: Any) -> None:
        self.session = session
        self.step = 0
        self._taken = trainer.global_step
        self._begun = False

    def batch_begins(self, trainer: Any) -> None:
        if not self._begun:
            self._begun = True
            if self.session.counts:
                begin_step(self.session, self.step + 1, functools.partial(_enters, trainer.lightning_module))

    def optimizer_steps(self, trainer: Any, optimizer: Any) -> None:
        if self.session.live:
            gradients_ready(
                self.session, self.step + 1, trainer.lightning_module, innermost(optimizer, "optimizer", "param_groups")
            )
        self.session.pulse(self.step + 1)

    def batch_ends(self, trainer: Any) -> None:
        if self.session.live:
            self.session.fire(MicroBatch(step=self.step + 1))
        if trainer.global_step == self._taken:
            return  # gradients are accumulated, and the optimizer waits
        self._taken = trainer.global_step
        self._begun = False
        self.step += 1
        if self.session.counts:
            end_step(self.session, self.step)
        else:
            self.session.beat(self.step)


_fits: weakref.WeakKeyDictionary[Any, _Fit] = weakref.WeakKeyDictionary()
_HEARD = {
    "on_train_start",
    "on_train_batch_start",
    "on_before_optimizer_step",
    "on_train_batch_end",
    "on_train_end",
}
_LOOKING = tuple(f"on_{kind}_{{}}" for kind in ("validation", "test", "predict"))
_BEGINS = {hook.format(when) for hook in _LOOKING for when in ("start", "batch_end")}
_ENDS = {hook.format("end") for hook in _LOOKING}
"""The same of an evaluation, in a fit or outside of one; each batch is a part of it that is done."""


def bind_calls(module: Any, session: Session) -> None:
    """Hear what the Trainer tells its callbacks."""
    tell_callbacks = module._call_callback_hooks
    hear = session.shielded(functools.partial(_hear, session))

    @functools.wraps(tell_callbacks)
    def told(trainer: Any, hook_name: str, *args: Any, **kwargs: Any) -> Any:
        if hook_name in _BEGINS:
            session.enters(Phase.EVALUATION)
        elif hook_name in _ENDS:
            session.look_soon()
        elif hook_name in _HEARD:
            hear(trainer, hook_name, *args)
        return tell_callbacks(trainer, hook_name, *args, **kwargs)

    module._call_callback_hooks = told


def _hear(session: Session, trainer: Any, hook: str, *args: Any) -> None:
    if hook == "on_train_start":
        _begin(session, trainer)
        return
    fit = _fits.get(trainer)
    if fit is None:
        return
    if hook == "on_train_batch_start":
        fit.batch_begins(trainer)
    elif hook == "on_before_optimizer_step":
        fit.optimizer_steps(trainer, args[0])
    elif hook == "on_train_batch_end":
        fit.batch_ends(trainer)
    elif hook == "on_train_end":
        _fits.pop(trainer)
        end_training(session, fit.step)


def _begin(session: Session, trainer: Any) -> None:
    _fits[trainer] = _Fit(session, trainer)
    optimizers = trainer.optimizers
    schedulers = [config.scheduler for config in trainer.lr_scheduler_configs]
    begin_training(
        session,
        TrainBegin(
            driver=DRIVER,
            model=trainer.lightning_module,
            optimizer=innermost(optimizers[0], "optimizer", "param_groups") if optimizers else None,
            arguments=trainer,
            scheduler=schedulers[0] if schedulers else None,
            loader=_loader(trainer.train_dataloader),
            planned_steps=_planned(trainer),
        ),
    )


def _planned(trainer: Any) -> int:
    """Return the steps of this fit that are still to come, 0 where it has no end that is known."""
    planned = trainer.estimated_stepping_batches
    return 0 if planned == float("inf") else max(int(planned) - trainer.global_step, 0)


def _loader(loaders: Any) -> Any | None:
    """Return the one loader; of several that are combined none, since nobody could say which one a fact is about."""
    return loaders if hasattr(loaders, "batch_sampler") else None


def _enters(module: Any) -> Any:
    """Return the part of a LightningModule that a batch enters: its largest child, since nobody calls the module.

    ``training_step`` is called instead of ``forward``, with a batch whose meaning is the module's own.
    """
    children = [child for child in module._modules.values() if child is not None]
    largest = max(children, key=lambda child: sum(one.numel() for one in child.parameters()), default=module)
    return largest if any(True for _ in largest.parameters()) else module


def bind_connector(module: Any, session: Session) -> None:
    """Keep the precision that was asked for, before it is resolved to what the accelerator can do."""
    connector_class = module._AcceleratorConnector
    build = connector_class.__init__

    @session.shielded
    def remember(connector: Any, precision: Any) -> None:
        _asked[connector] = "" if precision is None else str(precision)

    @functools.wraps(build)
    def built(self: Any, *args: Any, **kwargs: Any) -> None:
        remember(self, kwargs.get("precision"))
        build(self, *args, **kwargs)

    connector_class.__init__ = built


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the Trainer was asked for, where it was asked for other than its defaults."""
    trainer: Any = moment.arguments
    if moment.driver != DRIVER:
        return
    precision = _asked.get(trainer._accelerator_connector, "")
    if precision:
        session.fire(Asked(subject="precision", value=precision, source="Trainer(precision=…)"))
    else:
        session.fire(Implied(subject="precision.matmul_types", owner="default of lightning.Trainer"))
    if trainer.accumulate_grad_batches != 1:
        asked = int(trainer.accumulate_grad_batches)
        session.fire(Asked(subject="batch.accumulation", value=asked, source="Trainer(accumulate_grad_batches=…)"))


def bind_saving(module: Any, session: Session) -> None:
    """Hear where a checkpoint is saved, by a callback or by the script."""
    trainer_class = module.Trainer
    save = heard(trainer_class.save_checkpoint, session, form="file", path="filepath", writes=_is_first)

    @functools.wraps(save)
    def saved(*args: Any, **kwargs: Any) -> Any:
        session.enters(Phase.CHECKPOINT)
        try:
            return save(*args, **kwargs)
        finally:
            session.leaves(Phase.CHECKPOINT)

    trainer_class.save_checkpoint = saved


def _is_first(call: Call) -> bool:
    return bool(call["self"].is_global_zero)


TURN = 1
DESCRIBERS = (Describer(describe, subjects=("precision", "batch.accumulation")),)
BINDS = {
    "lightning.pytorch.trainer.call": bind_calls,
    "lightning.pytorch.trainer.trainer": bind_saving,
    "lightning.pytorch.trainer.connectors.accelerator_connector": bind_connector,
}
