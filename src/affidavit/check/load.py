"""Loads checks, and refuses every one that could not be trusted, all complaints at once."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

from affidavit.check.rule import Check, CheckShapeError
from affidavit.fact.term import Vocabulary


def load(package: ModuleType, vocabulary: Vocabulary) -> tuple[Check, ...]:
    """Return the checks of every module in a package.

    Raises:
        CheckShapeError: with each module that registers nothing and each check that lacks a sabotage, a healthy
            example, a docstring, or needs a term that does not exist; or the set is empty.
    """
    modules = [
        importlib.import_module(f"{package.__name__}.{found.name}")
        for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name)
    ]
    return admit(modules, vocabulary)


def admit(modules: Iterable[ModuleType], vocabulary: Vocabulary, *, known: Iterable[Check] = ()) -> tuple[Check, ...]:
    """Return the checks that these modules hold, after those already known.

    Raises:
        CheckShapeError: as :func:`load` does; an id that is already known is a complaint too.
    """
    checks = list(known)
    complaints: list[str] = []
    for module in modules:
        found = [value for value in vars(module).values() if isinstance(value, Check)]
        if not found:
            complaints.append(f"{module.__name__} registers no check; a misspelt decorator looks just like this")
        for check in found:
            complaints += [f"{check.id}: {complaint}" for complaint in check.complaints(vocabulary)]
            if any(other.id == check.id for other in checks):
                complaints.append(f"{check.id}: two checks have this id")
            checks.append(check)
    if not checks:
        complaints.append("there is no check at all; an empty set passes everything")
    if complaints:
        raise CheckShapeError("checks: " + "; ".join(complaints) + ".")
    return tuple(checks)
