"""What the Trainer's arguments ask of optimizer and schedule where it takes more than one of them to say it.

Source: transformers 5.24 training_args (``get_warmup_steps``), trainer (``get_optimizer_cls_and_kwargs``).
Blind to: ``optim_args``, which mean something else to each optimizer.
"""

from __future__ import annotations

from typing import Any

from affidavit.adapters.transformers.arguments import is_named
from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.session import Session

_ADAM = ("adam_beta1", "adam_beta2", "adam_epsilon")
_WARMUP = ("warmup_steps", "warmup_ratio")
SUBJECTS = ("optimizer.settings", "schedule.warmup_steps")
_OF_THE_OPTIMIZER = ("optimizer.kind", "optimizer.learning_rate", "optimizer.weight_decay", "optimizer.settings")


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which numbers of Adam, and how much warm-up, the script asked for, and whether the optimizer is its own."""
    arguments: Any = moment.arguments
    if not hasattr(arguments, "get_warmup_steps"):
        return
    kind = type(arguments).__name__
    for subject, names in zip(SUBJECTS, (_ADAM, _WARMUP)):
        named = [name for name in names if is_named(arguments, name)]
        if named:
            value = _settings(arguments) if names is _ADAM else arguments.get_warmup_steps(_steps(moment))
            source = f"{kind}({', '.join(f'{name}=…' for name in named)})"
            session.fire(Asked(subject=subject, value=value, source=source))
        else:
            session.fire(Implied(subject=subject, owner=f"default of {kind}"))
    if _is_passed_in(moment):
        for subject in _OF_THE_OPTIMIZER:
            session.fire(Implied(subject=subject, owner=f"an optimizer that {kind} did not make"))


def _is_passed_in(moment: TrainBegin) -> bool:
    """Say whether the optimizer steps at no rate of the arguments, so that no default of theirs can have decided it."""
    arguments: Any = moment.arguments
    rates = [group.get("initial_lr", group.get("lr")) for group in getattr(moment.optimizer, "param_groups", ())]
    return not is_named(arguments, "learning_rate") and bool(rates) and arguments.learning_rate not in rates


def _settings(arguments: Any) -> tuple[str, ...]:
    return f"betas={(arguments.adam_beta1, arguments.adam_beta2)!r}", f"eps={arguments.adam_epsilon!r}"


def _steps(moment: TrainBegin) -> int:
    """Return all steps of the training, those before a resumption among them: a share of warm-up is one of all."""
    arguments: Any = moment.arguments
    if arguments.max_steps > 0:
        return int(arguments.max_steps)
    return moment.planned_steps + int(getattr(moment.scheduler, "last_epoch", 0) or 0)
