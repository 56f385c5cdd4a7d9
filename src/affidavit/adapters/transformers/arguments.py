"""TrainingArguments → requests: how an argument becomes one, which of them the script named, who decided the others.

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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.session import Session
from affidavit.fact.values import Value
from affidavit.names.consumed import is_own


@dataclass(frozen=True)
class Ask:
    """A term, the arguments by which it is asked for, and what they come to; None where they say nothing of it.

    A term may have several names: an alias, or arguments that only together come to a value.
    """

    term: str
    names: tuple[str, ...]
    read: Callable[[Any, TrainBegin], Value | None]


@dataclass(frozen=True, kw_only=True)
class _Made:
    """One live object of arguments: the names its maker wrote, and the values it had once it was made.

    ``outside`` is what the environment said of precision until then: transformers 4 writes what it was told there.
    """

    item: weakref.ref[Any]
    named: frozenset[str]
    after: Mapping[str, Any]
    outside: str
    path: str
    line: int


PRECISION = "ACCELERATE_MIXED_PRECISION"
"""The variable of the environment by which a launcher says it."""
_written: set[str] = set()
"""What arguments themselves wrote there: transformers 4 does, and the next arguments read it."""
_made: dict[int, _Made] = {}
"""By identity: arguments compare by value, so they have no hash."""


def bind_arguments(module: ModuleType, session: Session) -> None:
    arguments_class = module.TrainingArguments
    finish = arguments_class.__post_init__

    @session.shielded
    def remember(arguments: Any, named: frozenset[str], outside: str, frame: FrameType | None) -> None:
        key = id(arguments)
        reference = weakref.ref(arguments, lambda _: _made.pop(key, None))
        while frame is not None and not is_own(frame.f_code.co_filename):
            frame = frame.f_back
        place = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        after = dict(vars(arguments))
        _made[key] = _Made(item=reference, named=named, after=after, outside=outside, path=place[0], line=place[1])

    @functools.wraps(finish)
    def finished(self: Any, *args: Any, **kwargs: Any) -> Any:
        named: frozenset[str] = frozenset()
        try:
            named = _named(self, sys._getframe(1))
        except Exception as error:  # noqa: BLE001  an interpreter that we do not read; the values still speak
            session.note(f"the names given to {type(self).__name__} were not read: {error!r:.120}")
        outside = os.environ.get(PRECISION, "")
        result = finish(self, *args, **kwargs)
        if os.environ.get(PRECISION, "") != outside:
            _written.add(os.environ.get(PRECISION, "").lower())
        remember(self, named, outside, sys._getframe(1))
        return result

    arguments_class.__post_init__ = finished


def tell(asks: Iterable[Ask], moment: TrainBegin, session: Session) -> None:
    """Say what the arguments of a training ask for, and who owns what they leave open."""
    arguments = moment.arguments
    if id(arguments) not in _made:
        return
    kind = type(arguments).__name__
    for ask in asks:
        there = [name for name in ask.names if hasattr(arguments, name)]
        named = [name for name in there if is_set(arguments, name)]
        value = ask.read(arguments, moment) if named else None
        if value is not None:
            source = f"{kind}({', '.join(f'{name}=…' for name in named)})"
            session.fire(Asked(subject=ask.term, value=value, source=source))
        elif there and not named:
            session.fire(Implied(subject=ask.term, owner=f"default of {kind}: {_as_written(arguments, there)}"))


def _as_written(arguments: Any, names: Iterable[str]) -> str:
    """Return arguments with their values, an alias of one before it left out."""
    values: dict[str, str] = {}
    for name in names:
        value = getattr(arguments, name)
        values.setdefault(f"{getattr(value, 'value', value)!s:.40}", name)
    return ", ".join(f"{name}={value}" for value, name in values.items())


def is_set(arguments: Any, name: str) -> bool:
    """Say whether the script named an argument, or set it once the arguments were made, where that is known."""
    made = _made.get(id(arguments))
    if made is None:
        return False
    return name in made.named or repr(getattr(arguments, name)) != repr(made.after.get(name))


def set_later(arguments: Any) -> tuple[str, ...]:
    """Return the attributes that arguments have now and had not when they were made."""
    made = _made.get(id(arguments))
    return () if made is None else tuple(name for name in vars(arguments) if name not in made.after)


def made_at(arguments: Any) -> tuple[str, int]:
    """Return where the script made arguments, ("", 0) where that is not known."""
    made = _made.get(id(arguments))
    return ("", 0) if made is None else (made.path, made.line)


def outside_before(arguments: Any) -> str | None:
    """Return what the environment said of precision before the arguments were made, where that is known."""
    made = _made.get(id(arguments))
    return None if made is None else made.outside.lower()


def is_from_arguments(outside: str) -> bool:
    """Say whether other arguments put what the environment says of precision there."""
    return outside in _written


def _named(arguments: Any, frame: FrameType | None) -> frozenset[str]:
    """Return the arguments that were named when this object was made, whose ``__init__`` is on the stack."""
    while frame is not None and (
        frame.f_code.co_name != "__init__" or next(iter(frame.f_locals.values()), None) is not arguments
    ):
        frame = frame.f_back
    if frame is None:
        return frozenset()
    written = keywords(frame.f_back)
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


def keywords(caller: FrameType | None) -> frozenset[str] | None:
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
