"""TrainingArguments → requests: which of them the script named, and who decided the others.

A value that equals its default may have been typed all the same. So the names are read where they were written: the
call that made the arguments. Where a parser made it, which passes everything, a value other than the default counts.

Source: transformers 5.24 training_args; hf-stack-spike §1, §4.
Blind to: a default that was typed into a file or a command line which a parser read.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from affidavit.adapters.transformers.names import optimizer_class, schedule_kind
from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.session import Session
from affidavit.fact.values import Value


@dataclass(frozen=True)
class Field:
    """An argument, the term it is a request for, and how its value reads there; None where it says nothing."""

    name: str
    term: str
    read: Callable[[Any, Any], Value | None]


def _number(value: Any, arguments: Any) -> Value | None:
    return float(value)


def _whole(value: Any, arguments: Any) -> Value | None:
    return int(value)


REQUESTS: tuple[Field, ...] = (
    Field("learning_rate", "optimizer.learning_rate", _number),
    Field("weight_decay", "optimizer.weight_decay", _number),
    Field("optim", "optimizer.kind", optimizer_class),
    Field("lr_scheduler_type", "schedule.kind", schedule_kind),
    Field("seed", "determinism.seed", _whole),
)
"""What the arguments of every Trainer ask for, in our names."""


@dataclass(frozen=True, kw_only=True)
class _Made:
    """One live object of arguments: the names its maker wrote, and the values it had once it was made.

    ``outside`` is what the environment said of precision until then: transformers 4 writes what it was told there.
    """

    item: weakref.ref[Any]
    named: frozenset[str]
    after: Mapping[str, Any]
    outside: str


PRECISION = "ACCELERATE_MIXED_PRECISION"
"""The variable of the environment by which a launcher says it."""
_made: dict[int, _Made] = {}
"""By identity: arguments compare by value, so they have no hash."""


def bind_arguments(module: ModuleType, session: Session) -> None:
    arguments_class = module.TrainingArguments
    finish = arguments_class.__post_init__

    @session.shielded
    def remember(arguments: Any, named: frozenset[str], outside: str) -> None:
        key = id(arguments)
        reference = weakref.ref(arguments, lambda _: _made.pop(key, None))
        _made[key] = _Made(item=reference, named=named, after=dict(vars(arguments)), outside=outside)

    @functools.wraps(finish)
    def finished(self: Any, *args: Any, **kwargs: Any) -> Any:
        named: frozenset[str] = frozenset()
        try:
            named = _named(self, sys._getframe(1))
        except Exception as error:  # noqa: BLE001  an interpreter that we do not read; the values still speak
            session.note(f"the names given to {type(self).__name__} were not read: {error!r:.120}")
        outside = os.environ.get(PRECISION, "")
        result = finish(self, *args, **kwargs)
        remember(self, named, outside)
        return result

    arguments_class.__post_init__ = finished


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what the arguments of the training ask for, and who owns what they leave open."""
    arguments = moment.arguments
    made = _made.get(id(arguments))
    if made is None:
        return
    kind = type(arguments).__name__
    for field in REQUESTS:
        if not hasattr(arguments, field.name):
            continue
        value = getattr(arguments, field.name)
        is_named = field.name in made.named
        is_changed = repr(value) != repr(made.after.get(field.name))
        asked = field.read(value, arguments) if is_named or is_changed else None
        if asked is not None:
            source = f"{kind}.{field.name}, set after it was made" if is_changed else f"{kind}({field.name}=…)"
            session.fire(Asked(subject=field.term, value=asked, source=source))
        elif not is_named and not is_changed:
            session.fire(Implied(subject=field.term, owner=f"default of {kind}"))


def is_named(arguments: Any, name: str) -> bool:
    """Say whether the script named an argument, where that is known."""
    made = _made.get(id(arguments))
    return made is not None and name in made.named


def is_set(arguments: Any, name: str) -> bool:
    """Say whether the script named an argument, or set it once the arguments were made, where that is known."""
    made = _made.get(id(arguments))
    if made is None:
        return False
    return name in made.named or repr(getattr(arguments, name)) != repr(made.after.get(name))


def outside_before(arguments: Any) -> str | None:
    """Return what the environment said of precision before the arguments were made, where that is known."""
    made = _made.get(id(arguments))
    return None if made is None else made.outside.lower()


def _named(arguments: Any, frame: FrameType | None) -> frozenset[str]:
    """Return the arguments that were named when this object was made, whose ``__init__`` is on the stack."""
    while frame is not None and (
        frame.f_code.co_name != "__init__" or next(iter(frame.f_locals.values()), None) is not arguments
    ):
        frame = frame.f_back
    if frame is None:
        return frozenset()
    written = _keywords(frame.f_back)
    if written is not None:
        return written
    given = frame.f_locals
    return frozenset(
        field.name
        for field in dataclasses.fields(arguments)
        if field.init and field.name in given and repr(given[field.name]) != repr(_default(field))
    )


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _keywords(caller: FrameType | None) -> frozenset[str] | None:
    """Return the keywords of the call that a frame is in the middle of; None where it passes a mapping, as parsers do.

    Source: CPython 3.10 to 3.14: a call with keywords has their names in a constant, loaded just before it.
    """
    if caller is None:
        return None
    before: list[dis.Instruction] = []
    for instruction in dis.get_instructions(caller.f_code):
        if instruction.offset > caller.f_lasti:
            break
        before.append(instruction)
    if not before or not before[-1].opname.startswith("CALL") or before[-1].opname == "CALL_FUNCTION_EX":
        return None
    for instruction in reversed(before[-4:]):
        names = instruction.argval
        if instruction.opname == "KW_NAMES" and isinstance(instruction.arg, int):
            names = caller.f_code.co_consts[instruction.arg]
        if isinstance(names, tuple) and all(isinstance(name, str) for name in names):
            return frozenset(names)
    return frozenset()
