"""Notations that others write down what they did in, read as data: JSON, TOML, YAML, and the lists of a model card.

A document that two readers could read differently is refused: a key that stands twice, an alias, nesting without end.

Source: YAML 1.2 §7.1 (aliases), the "billion laughs"; model cards of transformers 5.24.
Blind to: prose.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

DEEPEST = 40
MOST_ITEMS = 32
_SETTING = re.compile(r"\s*[-*]\s+`?([A-Za-z][\w .-]{0,60}?)`?\s*:\s+(\S.{0,400}?)\s*")


@dataclass(frozen=True, kw_only=True)
class Said:
    """One value that a file states: ``keys`` is the way to it, a list's items by their number."""

    file: str
    keys: tuple[str, ...]
    value: object

    @property
    def place(self) -> str:
        return f"{self.file}:{'.'.join(self.keys)}"


def parsed(raw: bytes, path: Path, notes: list[str]) -> Mapping[str, object]:
    """Return the one object that a file holds.

    Raises:
        ValueError: what it is instead.
    """
    text = raw.decode()
    suffix = path.suffix.lower()
    if suffix == ".md":
        return _card(text, notes, path.name)
    if suffix == ".toml":
        found: object = tomllib.loads(text)
    elif suffix in (".yaml", ".yml"):
        found = _yaml(text)
    else:
        found = json.loads(text, object_pairs_hook=_once)
    if not isinstance(found, dict) or not found:
        raise ValueError(f"expected one object, saw {type(found).__name__}")
    return found


def _once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key "{key:.80}" stands twice')
        found[key] = value
    return found


def _card(text: str, notes: list[str], name: str) -> Mapping[str, object]:
    """Return what a model card states: its front matter, and each ``- name: value`` of its lists."""
    found: dict[str, object] = {}
    front = re.match(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", text, re.S)
    if front:
        try:
            matter = _yaml(front[1])
            found |= {"front matter": matter} if isinstance(matter, dict) else {}
        except (ValueError, RecursionError) as error:
            notes.append(f"{name}: its front matter is not read, {error}")
    settings: dict[str, object] = {}
    for row in (text[front.end() :] if front else text).splitlines():
        if len(row) < 600 and (match := _SETTING.fullmatch(row)):
            settings.setdefault(match[1].strip(), scalar(match[2]))
    found |= {"settings": settings} if settings else {}
    if not found:
        raise ValueError("no front matter and no list of settings")
    return found


def scalar(text: str) -> object:
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _yaml(text: str) -> object:
    """Return what YAML holds, plain data only: aliases and doubled keys are refused.

    Raises:
        ValueError: it is none, or PyYAML is not installed beside us.
    """
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        raise ValueError('PyYAML is not installed; run "pip install pyyaml"') from error

    class Plain(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: object, index: object) -> object:
            if self.check_event(yaml.AliasEvent):
                raise ValueError("an alias, which can stand for any amount of text")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: object, deep: bool = False) -> dict[str, object]:
            return _once((str(key), value) for key, value in self._pairs(node))

        def _pairs(self, node: object) -> Iterator[tuple[object, object]]:
            for key, value in node.value:  # type: ignore[attr-defined]
                yield self.construct_object(key, deep=True), self.construct_object(value, deep=True)

    Plain.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))
    try:
        return yaml.load(text, Loader=Plain)
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {str(error).partition(chr(10))[0]}") from error


def flat(file: str, found: Mapping[str, object]) -> Iterator[Said]:
    """Yield every value with the way to it; a list of plain values is one, of a long list only the ends are kept."""
    pending: list[tuple[tuple[str, ...], object]] = [((), found)]
    while pending:
        keys, value = pending.pop()
        if len(keys) > DEEPEST:
            raise ValueError(f"nested deeper than {DEEPEST}")
        if isinstance(value, dict):
            pending += reversed([((*keys, str(key)), inner) for key, inner in value.items()])
        elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
            kept = list(enumerate(value))
            if len(kept) > MOST_ITEMS:
                kept = [kept[0], kept[-1]]
                yield Said(file=file, keys=(*keys, "items"), value=len(value))
            pending += reversed([((*keys, str(number)), inner) for number, inner in kept])
        else:
            yield Said(file=file, keys=keys, value=value)


def number(value: object) -> float | None:
    """Return a finite number, also where it stands as text, or None."""
    if isinstance(value, str):
        value = scalar(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
