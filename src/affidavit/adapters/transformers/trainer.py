"""The Trainer's loop, heard through ``DEFAULT_CALLBACKS``, an extension point.

``_inner_training_loop`` and model forwards, which source patchers rewrite, are never touched.

Source: hf-stack-spike §4; transformers 5.24 trainer; critic-architect R8, R9.
Blind to: an evaluation that a callback after ours asks for, until its first batch is over; whether the best model is
saved, until it is; the folder of a checkpoint under a hyperparameter search; a Trainer without our callback (the
optimizer hooks then see a plain loop, and that is noted).
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from affidavit.adapters.transformers.tokenizers import offer_tokenizer
from affidavit.attach.heartbeat import Phase
from affidavit.attach.moment import MicroBatch, Saved, TrainBegin, Written
from affidavit.attach.saving import located
from affidavit.attach.session import Session
from affidavit.attach.wrapper import innermost


def bind_trainer(module: ModuleType, session: Session) -> None:
    callback_class: type[Any] = module.TrainerCallback
    training, steps = _training(callback_class, session), _steps(callback_class, session)
    between = _between(callback_class, session, module.PREFIX_CHECKPOINT_DIR)

    class AffidavitCallback(training, steps, between):  # type: ignore[misc, valid-type]
        """Tells Affidavit when the Trainer begins, steps and ends; a copy of it, or one that was stored, is mute."""

        def __reduce__(self) -> tuple[type[Any], tuple[()]]:
            return callback_class, ()

    module.DEFAULT_CALLBACKS.append(AffidavitCallback)


def _training(callback_class: type[Any], session: Session) -> type[Any]:
    """Return the part of the callback that hears when a training begins and ends."""
    # Not above: whoever imports transformers alone has not imported torch, and the trainer's module has.
    from affidavit.adapters.torch.loop import begin_training, end_training
    from affidavit.adapters.transformers.owners import remember_handed

    epoch_began = [-1]

    class Training(callback_class):  # type: ignore[misc]
        @session.shielded
        def on_init_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            remember_handed(args, sys._getframe(1))

        @session.shielded
        def on_train_begin(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            remaining = state.max_steps - state.global_step
            begin_training(
                session,
                TrainBegin(
                    driver="transformers.Trainer",
                    model=live.get("model"),
                    optimizer=innermost(live.get("optimizer"), "optimizer", "param_groups"),
                    tokenizer=offer_tokenizer(live.get("processing_class")),
                    arguments=args,
                    scheduler=live.get("lr_scheduler"),
                    loader=live.get("train_dataloader"),
                    planned_steps=max(remaining, 0),
                ),
            )

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            epoch_began[0] = state.global_step

        @session.shielded
        def on_train_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            # An epoch that brought no step: the data had no row left for it.
            end_training(session, state.global_step, exhausted=epoch_began[0] == state.global_step)

    return Training


def _steps(callback_class: type[Any], session: Session) -> type[Any]:
    """Return the part that is called in every step of the run: what is not wanted any more is asked first."""
    from affidavit.adapters.torch.loop import begin_step, end_step, gradients_ready
    from affidavit.adapters.torch.modules import called

    begins, ready, ends = (session.shielded(call) for call in (begin_step, gradients_ready, end_step))

    class Steps(callback_class):  # type: ignore[misc]
        def on_step_begin(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if session.counts:
                begins(session, state.global_step + 1, functools.partial(called, live.get("model")))

        def on_substep_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if session.live:
                session.fire(MicroBatch(step=state.global_step + 1))

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if session.live:
                ready(
                    session,
                    state.global_step + 1,
                    live.get("model"),
                    innermost(live.get("optimizer"), "optimizer", "param_groups"),
                )
            session.pulse(state.global_step + 1)

        def on_step_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if not session.counts:
                session.beat(state.global_step)
                _announce(session, control)
                return
            if session.launch.mode == "rehearsal":
                control.should_save = False
            if session.live:
                session.fire(MicroBatch(step=state.global_step))
            ends(session, state.global_step)
            _announce(session, control)

    return Steps


def _between(callback_class: type[Any], session: Session, prefix: str) -> type[Any]:
    """Return the part that hears what comes between two steps: evaluations, and checkpoints by their ``prefix``."""

    @session.shielded
    def tell_saved(args: Any, step: int) -> None:
        folder = Path(args.output_dir) / f"{prefix}-{step}"
        if args.should_save and folder.is_dir():
            session.wrote(Written(path=located(folder), form="checkpoint"))

    class Between(callback_class):  # type: ignore[misc]
        def on_epoch_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            _announce(session, control)

        def on_prediction_step(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            session.enters(Phase.EVALUATION)

        def on_evaluate(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            session.look_soon()
            _announce(session, control)

        def on_predict(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            session.leaves(Phase.EVALUATION)

        def on_log(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            # The loop is over, and the best model is read back before its end is told.
            if args.load_best_model_at_end and "train_loss" in live.get("logs", ()):
                session.enters(Phase.CHECKPOINT)

        def on_save(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            tell_saved(args, state.global_step)
            session.fire(Saved(step=state.global_step))

    return Between


def _announce(session: Session, control: Any) -> None:
    """Say what comes before the next step and may take longer than any; the flags are read and no more."""
    if control.should_evaluate:
        session.enters(Phase.EVALUATION)
    elif control.should_save:
        session.enters(Phase.CHECKPOINT)
