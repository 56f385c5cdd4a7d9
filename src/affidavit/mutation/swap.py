"""A mutant stands in its function's place, and is gone afterwards, whatever ended the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from affidavit.fact.errors import AffidavitError
from affidavit.mutation.mutant import Mutant
from affidavit.mutation.target import Target


class RestoreError(AffidavitError):
    """Something else moved the function while a mutant stood in its place."""


@contextmanager
def armed(target: Target, mutant: Mutant | CodeType) -> Iterator[None]:
    """Put a mutant in; afterwards the very code and the very table that were there before are there again.

    Raises:
        RestoreError: the test itself replaced the code meanwhile; the first one stands again all the same.
    """
    code = mutant if isinstance(mutant, CodeType) else mutant.code
    table = None if isinstance(mutant, CodeType) else mutant.table
    original, kept = target.function.__code__, None if table is None else _read(table[0], table[1])
    moved = False
    try:
        if code is not None:
            target.function.__code__ = code
        if table is not None:
            _write(*table)
        _forget(target)
        yield
    finally:
        moved = code is not None and target.function.__code__ not in (code, original)
        target.function.__code__ = original
        if table is not None:
            _write(table[0], table[1], kept)
        _forget(target)
    if moved or target.function.__code__ is not original:
        raise RestoreError(f"{target.name}: the test replaces its code itself")


def _forget(target: Target) -> None:
    for clear in target.clear:
        clear()


def _read(holder: Any, name: str) -> object:
    return holder[name] if isinstance(holder, dict) else vars(holder)[name]


def _write(holder: Any, name: str, value: object) -> None:
    if isinstance(holder, dict):
        holder[name] = value
    else:
        setattr(holder, name, value)
