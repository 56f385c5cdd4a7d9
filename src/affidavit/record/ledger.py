"""The instrument ledger: when each check, and each other instrument, was last proved able to fail, and on what.

A gate that nobody has seen say no is scenery (landmine 4.6). The ledger dates every drill, and only a drill that
caught everything counts as a proof. Every line brings the digests of the code that it was proved on; proved on other
code, or too long ago, an instrument is unproved.

Blind to: on which code a check was drilled by a line of before there were digests; its version is all that it says.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from affidavit.record import lines
from affidavit.record.row import Part

CHANGED = "changed since"
UNREADABLE = "unreadable"
"""What stands for the digest of a file begins with this where there is none, and says why."""
DAY = datetime.timedelta(days=1)
"""So far the clocks of two places differ; what is dated later than that is not yet."""


class Drilled(Part, frozen=True, kw_only=True):
    """One drill of one check: sabotages caught of how many, on which run ("" for the check's own example).

    ``code`` is the SHA-256 of the check's module and of the modules beside it that it imports; "" in old lines.
    """

    check: str
    date: datetime.date
    caught: int
    total: int
    affidavit: str
    run: str = ""
    code: str = ""

    @property
    def is_proof(self) -> bool:
        return 0 < self.total == self.caught

    def doubt(self, code: str, *, as_of: datetime.date, days: int) -> str:
        """Return why this proves nothing of the check as it is now, or "" where it does."""
        if not self.is_proof:
            return f"{self.caught} of {self.total} sabotages caught"
        if self.code and self.code != code:
            return CHANGED
        return _expired(self.date, as_of, days)


class Instrument(Part, frozen=True, kw_only=True):
    """One proof, or attempt at one, of an instrument that is not a check.

    Args:
        kind: what sort of instrument it is: ``guard``, for a test that guards a function.
        name: which one; unique within its kind.
        word: what was said of it, in the words of its kind.
        on: the SHA-256 of each piece of code that the proof hangs on.
        missed: what it let pass, each with its place.
        says: the property that it guards, in its author's words.
        seconds: how long the proof took; 0 where nobody counted.
    """

    kind: str
    name: str
    date: datetime.date
    caught: int
    total: int
    affidavit: str
    word: str = ""
    on: dict[str, str] = {}
    missed: tuple[str, ...] = ()
    says: str = ""
    seconds: float = 0.0

    @property
    def is_proof(self) -> bool:
        return 0 < self.total == self.caught

    def holds_on(self, on: Mapping[str, str]) -> bool:
        """Return whether this proves the instrument as it is now: everything caught, on the very same code."""
        return self.is_proof and bool(self.on) and self.on == dict(on)

    def doubt(self, on: Mapping[str, str], *, as_of: datetime.date, days: int) -> str:
        """Return why what this line says no longer holds of the instrument as it is now, or "" where it does."""
        if unread := unreadable(on):
            return unread
        if not self.on or self.on != dict(on):
            names = sorted(name for name in {*self.on, *on} if self.on.get(name) != on.get(name))
            return f"{CHANGED}: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}" if names else CHANGED
        return _expired(self.date, as_of, days)


def unreadable(on: Mapping[str, str]) -> str:
    """Return which file of those that are hung on has no digest and why, or "" where each has one."""
    told = (f"{name} cannot be read{on[name].removeprefix(UNREADABLE)}" for name in sorted(on) if _is_unread(on[name]))
    return next(told, "")


def _is_unread(digest: str) -> bool:
    return digest.startswith(UNREADABLE)


Line = TypeVar("Line", Drilled, Instrument)


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """What a ledger says, in its order, and the lines that it does not say."""

    drills: tuple[Drilled, ...] = ()
    problems: tuple[str, ...] = ()
    instruments: tuple[Instrument, ...] = ()

    def last(self, check: str, as_of: datetime.date | None = None) -> Drilled | None:
        """Return the last drill of a check, whatever it showed; of two on one day, the later line.

        A line that is dated later than a given day, and not yet, stands behind every other.
        """
        return _newest((one for one in reversed(self.drills) if one.check == check), as_of)

    def last_of(self, kind: str, name: str, as_of: datetime.date | None = None) -> Instrument | None:
        """Return the last line about an instrument, whatever it showed."""
        return _newest((one for one in reversed(self.instruments) if (one.kind, one.name) == (kind, name)), as_of)


def _expired(date: datetime.date, as_of: datetime.date, days: int) -> str:
    if is_not_yet(date, as_of):
        return f"dated {date}, which is not yet"
    return f"proved {date}, more than {days} days ago" if (as_of - date).days > days else ""


def is_not_yet(date: datetime.date, as_of: datetime.date) -> bool:
    """Say whether a date is one that nobody can have written truly."""
    return date - as_of > DAY


def _newest(lines: Iterable[Line], as_of: datetime.date | None) -> Line | None:
    def place(line: Line) -> tuple[bool, datetime.date]:
        return as_of is None or not is_not_yet(line.date, as_of), line.date

    return max(lines, key=place, default=None)


def append(path: Path, drills: Iterable[Drilled | Instrument]) -> None:
    """Add lines at the end, all in one write, so that two writers never mix theirs."""
    lines.append(path, drills)


def read(path: Path) -> Ledger:
    """Return the ledger; a line that cannot be read is told as a problem, and the others stand.

    A missing file is an empty ledger: nothing was ever proved.
    """
    found = lines.read(path)
    drills: list[Drilled] = []
    instruments: list[Instrument] = []
    problems = list(found.problems)
    for number, document in found.documents:
        try:
            if isinstance(document, dict) and "kind" in document:
                instruments.append(msgspec.convert(document, Instrument))
            else:
                drills.append(msgspec.convert(document, Drilled))
        except msgspec.ValidationError as error:
            problems.append(f"{path.name}:{number}: {error}")
    return Ledger(drills=tuple(drills), problems=tuple(problems), instruments=tuple(instruments))
