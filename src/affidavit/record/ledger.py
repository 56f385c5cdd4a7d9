"""The instrument ledger: when each check was last proved able to fail, and on what.

A gate that nobody has seen say no is scenery (landmine 4.6). The ledger dates every drill, and only a drill that
caught everything counts as a proof.

Blind to: whether the check's code is still the one that was drilled; the version of Affidavit is all it says.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
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


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """What a ledger says, in its order, and the lines that it does not say."""

    drills: tuple[Drilled, ...] = ()
    problems: tuple[str, ...] = ()

    def last(self, check: str) -> Drilled | None:
        """Return the last drill of a check, whatever it showed; of two on one day, the later line."""
        return max((one for one in reversed(self.drills) if one.check == check), key=_date, default=None)


def _date(drilled: Drilled) -> datetime.date:
    return drilled.date


def append(path: Path, drills: Iterable[Drilled]) -> None:
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
    problems = [f"{path.name}: only the first {SIZE_BYTES:,} bytes were read"] if len(raw) > SIZE_BYTES else []
    for number, line in enumerate(raw[:SIZE_BYTES].splitlines(), 1):
        try:
            drills.append(msgspec.convert(canonical.parse(line), Drilled))
        except (canonical.CanonicalError, msgspec.ValidationError) as error:
            problems.append(f"{path.name}:{number}: {error}")
    return Ledger(drills=tuple(drills), problems=tuple(problems))
