"""What was read of one callable, before it has a package: its names, what becomes of the rest, and how sure that is."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from affidavit.names.signature import REQUIRED, Parameter, Rest

_ORDER = {Rest.CLOSED: 0, Rest.KEPT: 1, Rest.OPEN: 2}
_LONG = 200
CALLED = "()"
"""What follows the name of a factory in the text of a default."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """``positional`` are the names that arguments without a name are bound to, in order."""

    parameters: dict[str, Parameter] = field(default_factory=dict)
    rest: Rest = Rest.CLOSED
    why: str = ""
    positional: tuple[str, ...] = ()

    def opened(self, why: str) -> Read:
        """Return it with a rest that nobody followed."""
        return self if self.rest is Rest.OPEN else replace(self, rest=Rest.OPEN, why=why)

    def without(self, names: Iterable[str]) -> Read:
        """Return it without names that are given already."""
        gone = set(names)
        return replace(self, parameters={name: one for name, one in self.parameters.items() if name not in gone})

    def added(self, parameters: Iterable[Parameter]) -> Read:
        """Return it with further names; one that is there stays as it is."""
        return replace(self, parameters={**{one.name: one for one in parameters}, **self.parameters})


def opaque(why: str) -> Read:
    """Return what is said of something that text does not show."""
    return Read(rest=Rest.OPEN, why=why)


def either(reads: Iterable[Read]) -> Read:
    """Return what holds whichever of several definitions is the one: all names, and the laxest rest."""
    found = list(reads)
    if len(found) == 1:
        return found[0]
    parameters: dict[str, Parameter] = {}
    for one in found:
        for name, parameter in one.parameters.items():
            parameters.setdefault(name, parameter)
    laxest = max(found, key=lambda one: _ORDER[one.rest])
    return Read(parameters=parameters, rest=laxest.rest, why=laxest.why, positional=found[0].positional)


def source_of(node: ast.expr | None) -> str:
    """Return the text of a default."""
    if node is None:
        return REQUIRED
    text = ast.unparse(node)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
