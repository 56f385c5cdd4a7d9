"""All that is known of the numbers of some files: their claims, and the old values that still stand in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from affidavit.claims.judged import Judged, Word, judge
from affidavit.claims.sheet import sheets
from affidavit.record.measurement import FILE, Measurements


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What was found.

    Args:
        files: how many were looked at.
        judged: their claims.
        old: values that stand no longer, and were looked for.
        copies: places that still say one of them.
        loose: numbers beside a claim's words, in what is run, that name no measurement.
        unread: what could not be read, as path, line and why.
    """

    files: int
    judged: Judged
    old: int
    copies: tuple[Word, ...]
    loose: tuple[Word, ...]
    unread: tuple[tuple[Path, int, str], ...]

    @property
    def mendable(self) -> tuple[Word, ...]:
        return (*self.judged.unbound, *self.copies)


def survey(paths: Iterable[Path], measurements: Measurements, root: Path, *, launched: bool = False) -> Survey:
    """Return what is known of the numbers of some files.

    Args:
        root: the project.
        launched: whether these files are about to run, so that a loose number beside a claim's words is a warning.
    """
    files = tuple(paths)
    judged = judge(sheets(files), measurements, root)
    return Survey(
        files=len(files),
        judged=judged,
        old=0,
        copies=(),
        loose=(),
        unread=tuple(_unread(measurements, root)),
    )


def _unread(measurements: Measurements, root: Path) -> Iterable[tuple[Path, int, str]]:
    for problem in measurements.problems:
        place, _, why = problem.partition(": ")
        _, _, line = place.partition(":")
        yield root / FILE, int(line) if line.isdecimal() else 0, why or problem
