"""What the Trainer's arguments ask of optimizer and schedule, and whether the optimizer is one that they made.

Source: transformers 5.24 training_args (``get_warmup_steps``), trainer (``get_optimizer_cls_and_kwargs``).
Blind to: ``optim_args``, which mean something else to each optimizer.
"""

from __future__ import annotations

from typing import Any

from affidavit.adapters.transformers.arguments import Ask, is_set, tell
from affidavit.adapters.transformers.names import optimizer_class, schedule_kind
from affidavit.attach.moment import Implied, TrainBegin
from affidavit.attach.session import Session


def _settings(arguments: Any, moment: TrainBegin) -> tuple[str, ...]:
    return f"betas={(arguments.adam_beta1, arguments.adam_beta2)!r}", f"eps={arguments.adam_epsilon!r}"


def _warmup(arguments: Any, moment: TrainBegin) -> int:
    return int(arguments.get_warmup_steps(_steps(moment)))


ASKS = (
    Ask("optimizer.learning_rate", ("learning_rate",), lambda arguments, _: float(arguments.learning_rate)),
    Ask("optimizer.weight_decay", ("weight_decay",), lambda arguments, _: float(arguments.weight_decay)),
    Ask("optimizer.kind", ("optim",), lambda arguments, _: optimizer_class(arguments.optim)),
    Ask("optimizer.settings", ("adam_beta1", "adam_beta2", "adam_epsilon"), _settings),
    Ask("schedule.kind", ("lr_scheduler_type",), lambda arguments, _: schedule_kind(arguments.lr_scheduler_type)),
    Ask("schedule.warmup_steps", ("warmup_steps", "warmup_ratio"), _warmup),
)
SUBJECTS = tuple(ask.term for ask in ASKS)
_OF_THE_OPTIMIZER = ("optimizer.kind", "optimizer.learning_rate", "optimizer.weight_decay", "optimizer.settings")


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which optimizer and schedule the script asked for, and whether the optimizer is its own."""
    if not hasattr(moment.arguments, "get_warmup_steps"):
        return
    tell(ASKS, moment, session)
    if _is_passed_in(moment):
        kind = type(moment.arguments).__name__
        for ask in ASKS:
            if ask.term in _OF_THE_OPTIMIZER and not any(is_set(moment.arguments, name) for name in ask.names):
                session.fire(Implied(subject=ask.term, owner=f"an optimizer that {kind} did not make"))
    elif not any("betas" in group for group in getattr(moment.optimizer, "param_groups", ())):
        owner = f"default of {type(_inner(moment.optimizer)).__name__}"  # the arguments name those of Adam only
        session.fire(Implied(subject="optimizer.settings", owner=owner))


def _inner(optimizer: Any) -> Any:
    """Return the optimizer inside of the one that Accelerate wraps around it."""
    return getattr(optimizer, "optimizer", optimizer)


def _is_passed_in(moment: TrainBegin) -> bool:
    """Say whether class or rate of the optimizer are not those of the arguments, so that no default decided it."""
    arguments: Any = moment.arguments
    made = optimizer_class(getattr(arguments, "optim", None))
    kinds = {kind.__name__ for kind in type(_inner(moment.optimizer)).__mro__}
    if made is not None and not is_set(arguments, "optim") and made.rpartition(".")[2] not in kinds:
        return True
    rates = [group.get("initial_lr", group.get("lr")) for group in getattr(moment.optimizer, "param_groups", ())]
    return not is_set(arguments, "learning_rate") and bool(rates) and arguments.learning_rate not in rates


def _steps(moment: TrainBegin) -> int:
    """Return all steps of the training, those before a resumption among them: a share of warm-up is one of all."""
    arguments: Any = moment.arguments
    if arguments.max_steps > 0:
        return int(arguments.max_steps)
    return moment.planned_steps + int(getattr(moment.scheduler, "last_epoch", 0) or 0)
