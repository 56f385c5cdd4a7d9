"""Measurements and what superseded them: ``measurements.jsonl``, append-only, a line for each, kept in the repository.

A number in prose outlives what it was measured on: the right one was known, and the wrong one was copied into the next
launcher by the person who had measured it (landmine 4.7). So a number is kept with what made it, and an old one stays
here, that its copies can be found for ever.

Source: playbook §4.7.
Blind to: a line that was edited by hand; the history of the repository shows that.
"""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import canonical, lines
from affidavit.record.manifest import Instant
from affidavit.record.row import Part

FILE = "measurements.jsonl"
SPREADS = ("", "iqr", "sd")
"""What a spread is: nothing, the distance between the quartiles, or the standard deviation."""
AS_COMMITTED, CHANGED, NO_REPOSITORY = "as committed", "changed since", "no repository"
"""How the tree stood to its commit; "" where git would not say."""
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NAME_LONG = 100


class MeasurementError(AffidavitError):
    """A measurement has no name that text can carry, or no number."""


class Measurement(Part, frozen=True, kw_only=True):
    """One number, and everything that it was true of.

    Args:
        name: the id that a claim carries, in kebab-case.
        value: the median of ``n`` values, in ``unit``.
        date: when it had been measured; of an import, what its file says.
        spread: in ``unit``; what it is, ``spread_is`` says. None where there was one value.
        command: what was run, its secrets hidden.
        tree: ``as committed``, ``changed since``, ``no repository``, or "" where git would not say.
        device: the processor, its cores, the GPUs, and the system, by those words.
        packages: the interpreter and the packages that the number may hang on, each with its version.
        code: what it covers, as ``path``, ``path:function`` or ``module:function``, each with its digest.
        run: the id of the run of ours that it was measured in.
        seat: what else it depends on, in words: a serving seat, a size of batch.
    """

    name: str
    value: float
    unit: str
    date: Instant
    spread: float | None = None
    spread_is: str = ""
    n: int = 1
    command: tuple[str, ...] = ()
    commit: str = ""
    tree: str = ""
    device: dict[str, str] = {}
    packages: dict[str, str] = {}
    code: dict[str, str] = {}
    run: str = ""
    seat: str = ""
    note: str = ""


class Supersession(Part, frozen=True, kw_only=True):
    """Claims that no text may make any longer: one or a set, with a successor or without.

    Args:
        by: the claim that says it right, or "".
        scope_was: what the numbers were true of, where they were said of something else.
    """

    claims: tuple[str, ...]
    why: str
    date: Instant
    by: str = ""
    scope_was: str = ""
    author: str = ""


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """What a file of measurements says, in its order, and the lines that it does not say."""

    measured: tuple[Measurement, ...] = ()
    supersessions: tuple[Supersession, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._by_name))

    def history(self, name: str) -> tuple[Measurement, ...]:
        """Return every measurement of a name, the oldest first; of two of one instant, as they stand."""
        return self._by_name.get(name, ())

    def last(self, name: str) -> Measurement | None:
        """Return the newest measurement of a name, whether or not it was superseded."""
        return self.history(name)[-1] if name in self._by_name else None

    def superseded(self, name: str) -> Supersession | None:
        """Return what took a claim back, unless it was measured again since."""
        last = self.last(name)
        found = max((one for one in self.supersessions if name in one.claims), key=_date, default=None)
        return None if found is None or (last is not None and last.date > found.date) else found

    def near(self, name: str) -> str:
        """Return the name that was probably meant, or ""."""
        return next(iter(difflib.get_close_matches(name, self.names, 1)), "")

    @cached_property
    def former(self) -> tuple[Measurement, ...]:
        """Every measurement that stands no longer: one that was taken back, or replaced by a later one of its name."""
        return tuple(
            one
            for name in self.names
            for one in (self.history(name) if self.superseded(name) else self.history(name)[:-1])
        )

    @cached_property
    def _by_name(self) -> dict[str, tuple[Measurement, ...]]:
        found: dict[str, list[Measurement]] = {}
        for one in self.measured:
            found.setdefault(one.name, []).append(one)
        return {name: tuple(sorted(ones, key=_date)) for name, ones in found.items()}


def _date(line: Measurement | Supersession) -> datetime.datetime:
    return line.date


def is_name(name: str) -> bool:
    """Say whether a claim can carry this name wherever it stands: kebab-case, in ASCII."""
    return len(name) <= _NAME_LONG and _NAME.fullmatch(name) is not None


def append(path: Path, said: Iterable[Measurement | Supersession]) -> None:
    """Add lines at the end, all in one write, so that two writers never mix theirs.

    Raises:
        MeasurementError: a name, a number or a key that cannot be written, or a file that cannot; nothing was, then.
    """
    said = tuple(said)
    try:
        lines.append(path, [_fit(one) if isinstance(one, Measurement) else one for one in said])
    except canonical.CanonicalError as error:
        raise MeasurementError(
            refusal(
                subject="a measurement",
                expected="finite numbers and ASCII keys",
                saw=str(error),
                means=f"It cannot be written to {FILE}, so nothing was.",
                action="Say it otherwise.",
                unaffected="the lines that are there",
            )
        ) from error
    except OSError as error:
        raise MeasurementError(
            refusal(
                subject=f"{path}",
                expected="a file that can be written",
                saw=error.strerror or type(error).__name__,
                means=f"Kept nowhere but here: {_told(said)}.",
                action="Make it writable and measure again.",
                unaffected="the lines that are there",
            )
        ) from error


def _told(said: Iterable[Measurement | Supersession]) -> str:
    """Name what could not be written, with its number: it may have taken hours."""
    return ", ".join(
        f"{one.name} {one.value:.6g} {one.unit}" if isinstance(one, Measurement) else " and ".join(one.claims)
        for one in said
    )


def read(path: Path) -> Measurements:
    """Return what a file says; a line that cannot be read is told as a problem, and the others stand.

    A missing file is an empty one: nothing was ever measured.
    """
    found = lines.read(path)
    measured: list[Measurement] = []
    supersessions: list[Supersession] = []
    problems = list(found.problems)
    for number, parsed in found.documents:
        try:
            if isinstance(parsed, dict) and "claims" in parsed:
                supersessions.append(msgspec.convert(parsed, Supersession))
            else:
                measured.append(_fit(msgspec.convert(parsed, Measurement)))
        except (msgspec.ValidationError, MeasurementError) as error:
            problems.append(f"{path.name}:{number}: {str(error).splitlines()[0]}")
    return Measurements(measured=tuple(measured), supersessions=tuple(supersessions), problems=tuple(problems))


def _fit(one: Measurement) -> Measurement:
    """Return a measurement that text can carry.

    Raises:
        MeasurementError: it cannot; the first line says why.
    """
    wrong = (
        f"the name {one.name!r:.80}"
        if not is_name(one.name)
        else f"the spread {one.spread_is!r:.40}"
        if one.spread_is not in SPREADS
        else f"{one.n} values"
        if one.n < 1
        else ""
    )
    if wrong:
        raise MeasurementError(
            refusal(
                subject="a measurement",
                expected=f"a name in kebab-case, at least one value, and a spread that is {' or '.join(SPREADS[1:])}",
                saw=wrong,
                means="No claim could carry it, so it is not written.",
                action="Give it a name such as encode-cache-rebuild.",
                unaffected=f"the lines of {FILE} that are there",
            )
        )
    return one
