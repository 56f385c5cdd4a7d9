"""Other values near a value: what an input is set to, one after the other, to see whether anything moves with it.

What a mask or a list of names does shows only on rows that hold one of them; so what the rows hold is among the values
that are tried.

Source: anchors-mechanisms C1, the prototype of the probe: it is only as good as its witness.
Blind to: a value that matters and lies far from the one that is there; a witness of the user's reaches it.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

MOST = 24
"""Values that are tried of one input."""
_ELEMENTS = 8
_WORDS = 64
_SWITCHES = (("0", "1"), ("false", "true"), ("False", "True"), ("no", "yes"), ("off", "on"))


@dataclass(frozen=True)
class Other:
    """A value beside the one that is there, and in words what was done to get it."""

    value: Any
    says: str


@dataclass(frozen=True)
class Held:
    """What some rows hold: their texts as words, their short texts whole, and their integers."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Held:
        texts: dict[str, None] = {}
        words: dict[str, None] = {}
        numbers: dict[int, None] = {}
        for leaf in _leaves(rows):
            if type(leaf) is int and len(numbers) < _WORDS:
                numbers[leaf] = None
            elif isinstance(leaf, str) and len(words) < 16 * _WORDS:
                if len(leaf) <= 40:
                    texts[leaf] = None
                words.update(dict.fromkeys(re.findall(r"\w+", leaf[:2000])))
        return cls((*texts, *(word for word in words if word not in texts)), tuple(numbers))

    def holds(self, value: object) -> bool:
        return any(value == text or (isinstance(value, str) and value.lower() == text.lower()) for text in self.texts)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def others(value: Any, hint: Any = None, held: Held = Held()) -> tuple[Other, ...]:
    """Return other values of the kind of ``value``, the likeliest to matter first; none where none can be made.

    Args:
        hint: the type that was written down for it, as a Literal or an Optional says more than the value.
        held: what the rows hold.
    """
    found: list[Other] = []
    for other in (*_by_hint(value, hint, held), *_by_kind(value, held)):
        if not any(_same(other.value, seen) for seen in (value, *(each.value for each in found))):
            found.append(other)
    return tuple(found[:MOST])


def _same(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # noqa: BLE001  whatever a class of the user's makes of a comparison
        return one is other


def _by_hint(value: Any, hint: Any, held: Held) -> Iterator[Other]:
    choices = _choices(hint)
    is_optional = type(None) in choices
    for choice in choices:
        if typing.get_origin(choice) is typing.Literal:
            yield from (Other(each, f"set to {each!r}") for each in typing.get_args(choice))
        elif isinstance(choice, type) and issubclass(choice, enum.Enum):
            yield from (Other(each, f"set to {each!r}") for each in choice)
        elif value is None and choice in _EXAMPLES:
            yield from (Other(each, f"set to {each!r}") for each in _EXAMPLES[choice])
        elif value is None and choice is str:
            yield from (Other(each, f"set to {each!r}") for each in ("x", *held.texts[:4]))
    if is_optional and value is not None:
        yield Other(None, "set to None")


_EXAMPLES: dict[Any, tuple[Any, ...]] = {bool: (True, False), int: (1, 0, 4, 64), float: (0.5, 0.0, 10.0)}


def _choices(hint: Any) -> tuple[Any, ...]:
    if hint is None:
        return ()
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _by_kind(value: Any, held: Held) -> Iterator[Other]:
    if isinstance(value, enum.Enum):
        yield from (Other(each, f"set to {each!r}") for each in type(value))
    elif isinstance(value, bool):
        yield Other(not value, f"set to {not value}")
    elif isinstance(value, int):
        for whole in (value + 1, value - 1, 0, 2 * value, 1, *held.numbers[:4]):
            yield Other(whole, f"set to {whole}")
    elif isinstance(value, float):
        for real in (2 * value, value / 2, 0.0, value + 1.0, -value):
            yield Other(real, f"set to {real}")
    elif isinstance(value, str):
        yield from _of_text(value, held)
    elif isinstance(value, bytes):
        yield from (Other(value + b"x", "lengthened"), Other(b"", "emptied"))
    elif isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        yield from _of_sequence(value, held)
    elif isinstance(value, (set, frozenset)):
        yield from _of_set(value, held)
    elif isinstance(value, dict):
        yield from _of_mapping(value, held)
    elif isinstance(value, re.Pattern):
        never, always = (b"(?!)", b"") if isinstance(value.pattern, bytes) else ("(?!)", "")
        yield Other(re.compile(never, value.flags), "made to match nothing")
        yield Other(re.compile(always, value.flags), "made to match everywhere")
    elif isinstance(value, PurePath):
        yield Other(value.with_name(f"{value.name}x"), "renamed")
    elif value is None:
        yield from (Other(each, f"set to {each!r}") for each in (True, 1, "x", *held.texts[:2]))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            for other in others(getattr(value, each.name), None, held)[:4]:
                with suppress(Exception):  # a class may refuse what it likes
                    yield Other(dataclasses.replace(value, **{each.name: other.value}), f"{each.name} {other.says}")


def _of_text(value: str, held: Held) -> Iterator[Other]:
    for pair in _SWITCHES:
        if value in pair:
            yield Other(pair[1 - pair.index(value)], f"set to {pair[1 - pair.index(value)]!r}")
    yield Other(f"{value}x", "lengthened")
    yield Other(f"x{value}", "put behind an x")
    yield Other("", "emptied")
    if value.swapcase() != value:
        yield Other(value.swapcase(), "in the other case")
    if _is_number(value):
        yield Other(str(float(value) + 1).removesuffix(".0"), "raised by 1")
        yield Other("0", "set to '0'")
        yield Other("1", "set to '1'")
    yield from (Other(text, f"set to {text!r}") for text in held.texts[:4])


def _is_number(value: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", value) is not None


def _of_sequence(value: Sequence[Any], held: Held) -> Iterator[Other]:
    kind = type(value)
    rows = list(value)
    every = _fitting(rows, held)
    if every:
        yield Other(kind([*rows, *every]), f"lengthened by {len(every)} values that the rows hold")  # type: ignore[call-arg]
    for at in range(min(len(rows), _ELEMENTS)):
        yield Other(kind([*rows[:at], *rows[at + 1 :]]), f"without {_short(rows[at])}")  # type: ignore[call-arg]
    yield Other(kind(), "emptied")
    yield Other(kind(reversed(rows)), "reversed")  # type: ignore[call-arg]
    for at in range(min(len(rows), 4)):
        for other in others(rows[at], None, held if dataclasses.is_dataclass(rows[at]) else Held())[:4]:
            changed = [*rows[:at], other.value, *rows[at + 1 :]]
            yield Other(kind(changed), f"[{at}] {other.says}")  # type: ignore[call-arg]
    if not every:
        yield Other(kind([*rows, rows[-1] if rows else "x"]), "lengthened by one")  # type: ignore[call-arg]


def _of_set(value: Any, held: Held) -> Iterator[Other]:
    every = _fitting(list(value), held)
    if every:
        yield Other(value | set(every), f"with {len(every)} more that the rows hold")
    for each in sorted(value, key=repr)[:_ELEMENTS]:
        yield Other(value - {each}, f"without {_short(each)}")
    yield Other(type(value)(), "emptied")
    if not every:
        yield Other(value | {"x"}, "with 'x'")


def _of_mapping(value: dict[Any, Any], held: Held) -> Iterator[Other]:
    for key in list(value)[:_ELEMENTS]:
        yield Other({name: each for name, each in value.items() if name != key}, f"without {_short(key)}")
        for other in others(value[key], None, held)[:3]:
            yield Other({**value, key: other.value}, f"[{_short(key)}] {other.says}")
    if value:
        yield Other({}, "emptied")
        yield Other(dict(reversed(value.items())), "reversed")
    else:
        yield Other({"x": "x"}, "with 'x'")


def _fitting(rows: list[Any], held: Held) -> list[Any]:
    """Return what the rows of the data hold that could stand among these."""
    if rows and all(type(each) is int for each in rows):
        return [number for number in held.numbers if number not in rows]
    if not rows or all(isinstance(each, str) for each in rows):
        return [text for text in held.texts if text not in rows][:_WORDS]
    return []


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
