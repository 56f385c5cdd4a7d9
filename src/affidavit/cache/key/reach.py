"""What a function can reach, by name only: whoever moves an input has to know that it is one.

Blind to: what the closure of a key is blind to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.cache.key.closure import Closure
from affidavit.cache.key.gathered import Gathered


@dataclass(frozen=True)
class Reach:
    """The parts by kind and name, and the caches of :mod:`functools` that hide what a function reads."""

    parts: tuple[tuple[str, str], ...]
    memories: tuple[Any, ...]

    def of_kind(self, kind: str) -> tuple[str, ...]:
        return tuple(name for of, name in self.parts if of == kind)


def reach_of(function: Callable[..., Any], project: Path) -> Reach:
    """Return what a function can reach; what has no stable form is left out here, and refused by the key."""
    gathered = Gathered(project, lambda kind, name: False)
    Closure(gathered).follow(function)
    return Reach(tuple(sorted(gathered.parts)), tuple(gathered.memories))
