"""The instrument ledger: when each check, and each other instrument, was last proved able to fail, and on what.

A gate that nobody has seen say no is scenery (landmine 4.6). The ledger dates every drill, and only a drill that
caught everything counts as a proof. An instrument that is no check of ours (a guard of a test suite, say) brings the
digests of the code that it was proved on; proved on other code, it is unproved.

Blind to: whether a check's code is still the one that was drilled; the version of Affidavit is all its line says.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.record import canonical
from affidavit.record.row import Part

SIZE_BYTES = 1 << 24


class Drilled(Part, frozen=True, kw_only=True):
    """One drill of one check: sabotages caught of how many, on which run ("" for the check's own example)."""

    check: str
    date: datetime.date
    caught: int
    total: int
    affidavit: str
    run: str = ""

    @property
    def is_proof(self) -> bool:
        return 0 < self.total == self.caught


class Instrument(Part, frozen=True, kw_only=True):
    """One proof, or attempt at one, of an instrument that is not a check.

    Args:
        kind: what sort of instrument it is: ``guard``, for a test that guards a function.
        name: which one; unique within its kind.
        word: what was said of it, in the words of its kind.
        on: the SHA-256 of each piece of code that the proof hangs on.
        missed: what it let pass, each with its place.
        says: the property that it guards, in its author's words.
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

    @property
    def is_proof(self) -> bool:
        return 0 < self.total == self.caught

    def holds_on(self, on: Mapping[str, str]) -> bool:
        """Return whether this proves the instrument as it is now: everything caught, on the very same code."""
        return self.is_proof and bool(self.on) and self.on == dict(on)


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """What a ledger says, in its order, and the lines that it does not say."""

    drills: tuple[Drilled, ...] = ()
    problems: tuple[str, ...] = ()
    instruments: tuple[Instrument, ...] = ()

    def last(self, check: str) -> Drilled | None:
        """Return the last drill of a check, whatever it showed; of two on one day, the later line."""
        return max((one for one in reversed(self.drills) if one.check == check), key=_date, default=None)

    def last_of(self, kind: str, name: str) -> Instrument | None:
        """Return the last line about an instrument, whatever it showed."""
        lines = (one for one in reversed(self.instruments) if (one.kind, one.name) == (kind, name))
        return max(lines, key=_date, default=None)


def _date(line: Drilled | Instrument) -> datetime.date:
    return line.date


def append(path: Path, drills: Iterable[Drilled | Instrument]) -> None:
    """Add lines at the end, all in one write, so that two writers never mix theirs.

    A line that an earlier writer left torn is ended first.
    """
    raw = b"".join(canonical.encode(canonical.legible(msgspec.to_builtins(one))) + b"\n" for one in drills)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, b"\n" + raw if torn else raw)
    finally:
        os.close(descriptor)


def read(path: Path) -> Ledger:
    """Return the ledger; a line that cannot be read is told as a problem, and the others stand.

    A missing file is an empty ledger: nothing was ever proved.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_BYTES + 1)
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        return Ledger(problems=(f"{path.name}: {error.strerror}",))
    drills: list[Drilled] = []
    instruments: list[Instrument] = []
    problems = [f"{path.name}: only the first {SIZE_BYTES:,} bytes were read"] if len(raw) > SIZE_BYTES else []
    for number, line in enumerate(raw[:SIZE_BYTES].splitlines(), 1):
        try:
            parsed = canonical.parse(line)
            if isinstance(parsed, dict) and "kind" in parsed:
                instruments.append(msgspec.convert(parsed, Instrument))
            else:
                drills.append(msgspec.convert(parsed, Drilled))
        except (canonical.CanonicalError, msgspec.ValidationError) as error:
            problems.append(f"{path.name}:{number}: {error}")
    return Ledger(drills=tuple(drills), problems=tuple(problems), instruments=tuple(instruments))
