"""The fields of a configuration, by the names under which the key knows them, and the same with one of them changed.

Source: cache key: the whole resolved configuration joins, so the whole of it is probed.
Blind to: what a class computes from its fields and keeps under no field.
"""

from __future__ import annotations

import copy
import dataclasses
import typing
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from affidavit.cache.key.tokenizer import is_tokenizer


@dataclass(frozen=True)
class Field:
    """One field: its dotted name, the way to it, its value and the type that was written down for it."""

    name: str
    way: tuple[str, ...]
    value: Any
    hint: Any = None


def fields_of(config: Any, way: tuple[str, ...] = (), hint: Any = None) -> Iterator[Field]:
    """Yield every field of a configuration, those of fields that are configurations too."""
    inner = _items(config, is_whole=not way)
    if inner is None or not inner:
        yield Field(".".join(way) or "value", way, config, hint)
        return
    hints = _hints(type(config))
    for name, value in inner.items():
        yield from fields_of(value, (*way, name), hints.get(name))


def with_field(config: Any, way: tuple[str, ...], value: Any) -> Any:
    """Return a configuration in which one field has another value; the given one stays as it is.

    Raises:
        Exception: its class refuses that value, in its own words.
    """
    if not way:
        return value
    head, *rest = way
    if isinstance(config, Mapping):
        changed = copy.copy(config)
        changed[head] = with_field(config[head], tuple(rest), value)  # type: ignore[index]
        return changed
    inner = with_field(getattr(config, head), tuple(rest), value)
    if dataclasses.is_dataclass(config) and any(each.name == head and each.init for each in dataclasses.fields(config)):
        return dataclasses.replace(config, **{head: inner})  # type: ignore[type-var]
    if hasattr(config, "_replace"):
        return config._replace(**{head: inner})
    changed = copy.copy(config)
    object.__setattr__(changed, head, inner)
    return changed


def built(kind: Any, said: Any) -> Any:
    """Return what a file says as the class that a function takes it as; as it stands where there is none.

    Raises:
        TypeError, ValueError: the class refuses it.
    """
    if isinstance(kind, type) and hasattr(kind, "model_validate"):
        return kind.model_validate(said)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(said, Mapping)):
        return _cast(kind, said)
    hints = _hints(kind)
    return kind(**{name: built(hints.get(name), value) for name, value in said.items()})


def _cast(kind: Any, said: Any) -> Any:
    """Return a value that a file can only spell as a list or a text as what its field is."""
    choices = typing.get_args(kind) if typing.get_origin(kind) not in (None, tuple, list, set, frozenset, dict) else ()
    for wanted in (kind, *choices):
        origin = typing.get_origin(wanted) or wanted
        if origin in (tuple, set, frozenset) and isinstance(said, list):
            return origin(said)
        if isinstance(origin, type) and isinstance(said, str) and (origin is Path or hasattr(origin, "__members__")):
            return origin(said)
    return said


def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001  an annotation may name what is imported nowhere; then values tell their own kind
        return {}


def _items(config: Any, *, is_whole: bool) -> dict[str, Any] | None:
    if isinstance(config, type) or is_tokenizer(config):
        return None
    if isinstance(config, Mapping):
        return dict(config) if all(isinstance(name, str) for name in config) else None
    if dataclasses.is_dataclass(config):
        return {each.name: getattr(config, each.name) for each in dataclasses.fields(config)}
    if hasattr(type(config), "model_fields") or isinstance(config, (Namespace, SimpleNamespace)):
        return dict(vars(config))
    if hasattr(type(config), "__attrs_attrs__"):
        return {each.name: getattr(config, each.name) for each in type(config).__attrs_attrs__}
    if hasattr(config, "_asdict"):
        return dict(config._asdict())
    plain = isinstance(config, (str, bytes, int, float, list, tuple, set, frozenset, Path)) or config is None
    return dict(vars(config)) if is_whole and not plain and hasattr(config, "__dict__") else None
