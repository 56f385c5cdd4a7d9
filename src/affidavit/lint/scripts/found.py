"""What the pass through a project found, and the requests that are made of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.request import Given, Request
from affidavit.lint.scripts.build import Build
from affidavit.lint.scripts.reading import Late

Place = tuple[str, Path, int, int]
"""A callee, and where it is called: a file, a line, a column."""


@dataclass
class Found:
    """Everything that comes out of the pass.

    ``bare`` are calls without names, each with its guard and how it was reached; ``opened`` calls to which more names
    may come.
    """

    requests: dict[tuple[str, Path, int, int, str], dict[tuple[str, Path, int], Given]] = field(default_factory=dict)
    via: dict[tuple[str, Path, int, int, str], str] = field(default_factory=dict)
    bare: dict[Place, tuple[str, str]] = field(default_factory=dict)
    opened: set[Place] = field(default_factory=set)
    positional: dict[Place, int] = field(default_factory=dict)
    late: dict[Late, None] = field(default_factory=dict)
    builds: dict[tuple[Path, int, int], Build] = field(default_factory=dict)
    patched: set[str] = field(default_factory=set)
    followed: dict[str, set[tuple[Path, int, int]]] = field(default_factory=dict)
    conduits: set[Path] = field(default_factory=set)
    too_deep: dict[tuple[Path, int], None] = field(default_factory=dict)


def requests(found: Found) -> tuple[Request, ...]:
    """Return the requests in the order of files and lines, without those to callables that the project replaces."""
    made = []
    guards = Counter(key[:4] for key in found.requests)
    told = {**found.requests, **{(*place, guard): {} for place, (guard, _) in found.bare.items() if not guards[place]}}
    for key in sorted(told, key=lambda key: (str(key[1]), key[2], key[3], key[0], key[4])):
        callee, path, line, _, guard = key
        if any(_concerns(callee, patched) for patched in found.patched):
            continue
        place, given = key[:4], tuple(told[key].values())
        made.append(
            Request(
                callee=callee,
                given=given,
                path=path,
                line=line,
                via=found.via.get(key, "") if given else found.bare[place][1],
                guard=guard,
                is_open=place in found.opened or guards[place] > 1,
                positional=found.positional.get(place, 0),
            )
        )
    return tuple(made)


def _concerns(callee: str, patched: str) -> bool:
    """Whether what was replaced is the callable, a part of it, or what holds it."""
    return callee == patched or callee.startswith(f"{patched}.") or patched.startswith(f"{callee}.__")
