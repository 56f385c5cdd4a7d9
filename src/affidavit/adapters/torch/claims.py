"""What claims are said in, by whichever adapter: one wording for objects, keywords, variables and files.

Kinds of optimizers that differ in name only are one kind: engines put a fused Adam in the place of another.

Source: torch 2.13 optim, lr_scheduler; deepspeed runtime/engine (``_configure_basic_optimizer``); accelerate 1.15
utils/launch, commands/config (what is written where nobody asked).
Blind to: a rate that lies in a tensor, which is not waited for; groups with rates of their own.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from affidavit.attach.claim import Claim
from affidavit.attach.options import is_left
from affidavit.attach.wrapper import innermost

PRECISION = "ACCELERATE_MIXED_PRECISION"
ACCUMULATION = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
CLIPPING = "ACCELERATE_GRADIENT_CLIPPING"
WRITTEN_BY_ITSELF = {PRECISION: ("", "no"), ACCUMULATION: ("", "auto", "1"), CLIPPING: ("", "auto", "none", "1", "1.0")}
"""What the launcher, or its questionnaire, writes where nobody asked for anything."""
OPTIMIZER, RATE, DECAY, SCHEDULE = "optimizer", "learning rate", "weight decay", "schedule"
_ADAM = frozenset({"adam", "adamw", "fusedadam", "deepspeedcpuadam"})
_PACKAGES = ("torch", "__main__", "deepspeed", "apex")
_FUNCTION = re.compile(r"_?get_(.+?)_(?:schedule|lr_lambda|lambda)")


@dataclass(frozen=True, kw_only=True)
class HandedOver:
    """An optimizer or a schedule as it was handed over; its numbers are those of that moment."""

    find: Callable[[], Any]
    said: dict[str, str]

    def claims(self, owner: str, live: Any) -> dict[str, Claim]:
        """Return its claims by subject; the object that trains has whatever it says by now."""
        said = saying(live) if live is not None and self.find() is live else self.said
        return {subject: Claim(owner, value, typed=True) for subject, value in said.items()}


def handed(item: Any) -> HandedOver | None:
    """Return what is handed over; None where nothing is, or only a function that will make it."""
    said = saying(item)
    return HandedOver(find=weakref.ref(innermost_of(item)), said=said) if said else None


def saying(item: Any) -> dict[str, str]:
    """Return what an optimizer or a schedule says, by subject; nothing of what is neither, or only stands for one."""
    item = innermost_of(item)
    groups = getattr(item, "param_groups", None)
    if groups and isinstance(groups, list):
        rate, decays = rate_of(groups[0]), [group.get("weight_decay") for group in groups]
        numbers = [decay for decay in decays if isinstance(decay, int | float)]
        said = {OPTIMIZER: optimizer_kind(_named(item)), RATE: rate, DECAY: number(max(numbers)) if numbers else ""}
        return {subject: value for subject, value in said.items() if value}
    if hasattr(item, "step") and hasattr(item, "last_epoch"):
        return {SCHEDULE: schedule_kind(item)}
    return {}


def innermost_of(item: Any) -> Any:
    """Return the real optimizer or schedule inside of wrappers; a schedule that holds an optimizer is none of these."""
    if hasattr(item, "param_groups"):
        return innermost(item, "optimizer", "param_groups")
    return innermost(item, "scheduler", "step")


def rate_of(group: Any) -> str:
    """Return the rate that a schedule scales, or the one there is without."""
    rate = group.get("initial_lr", group.get("lr"))
    return number(rate) if isinstance(rate, int | float) else ""


def outside(variable: str, term: str = "", value: str | None = None) -> tuple[Claim, ...]:
    """Return the claim of a variable of the environment; none where it is not set."""
    said = (os.environ.get(variable, "") if value is None else value).lower()
    if not said:
        return ()
    typed = said not in WRITTEN_BY_ITSELF[variable]
    return (Claim(f"environment: {variable}", said, typed, term if typed else ""),)


def by_keyword(callee: str, name: str, value: Any, term: str = "", typed: bool = True) -> Claim:
    """Return the claim of a keyword; one that hands on what a parser took by default is nobody's word."""
    said = f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value).lower()
    if typed and is_left(name, value):
        return Claim(f"{callee}({name}=…), default of the option --{name}", said, typed=False)
    return Claim(f"{callee}({name}=…)", said, typed, term if typed else "")


def number(value: float) -> str:
    return f"{value:g}"


def optimizer_kind(name: str) -> str:
    kind = name.lower()
    return "adam or adamw" if kind in _ADAM else kind


def schedule_kind(scheduler: Any) -> str:
    """Return the name of a schedule; one that is built of functions is named after its function."""
    functions = getattr(scheduler, "lr_lambdas", None)
    if functions:
        inner = getattr(functions[0], "func", functions[0])
        name = str(getattr(inner, "__qualname__", "")).partition(".<locals>")[0].rpartition(".")[2]
        match = _FUNCTION.match(name)
        return match[1] if match else type(scheduler).__name__
    return type(scheduler).__name__


def _named(item: Any) -> str:
    kind = type(item)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in _PACKAGES else f"{package}.{kind.__name__}"
