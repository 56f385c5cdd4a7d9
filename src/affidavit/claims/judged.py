"""Claims held against their measurements: what says something else, what was taken back, what is of other code.

Source: playbook §4.7; anchors-mechanisms C7 (comparison after unit and rounding are normalised).
Blind to: a measurement that was wrong when it was made; devices and packages that changed since.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from affidavit.claims.anchor.anchor import Anchor
from affidavit.claims.anchor.place import Span
from affidavit.claims.quantity import quantity_of, same
from affidavit.claims.quantity.tail import unit_of
from affidavit.claims.sheet import Sheet
from affidavit.claims.superseded import declared, said_now
from affidavit.claims.wording import as_quantity, as_written, bare_number, in_place_of, in_unit
from affidavit.record.covered import moved
from affidavit.record.measurement import Measurement, Measurements

TABLE: Final = "affidavit:superseded"
"""The key under which a generated table is named."""
_SPEED: Final = re.compile(r"^time$|/s$")
_MARK: Final = re.compile(r"\bclaim:[ \t]{0,9}([a-z0-9]+(?:-[a-z0-9]+)*)")
_DATA: Final = frozenset(
    {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xml", ".sarif", ".log", ".lock", ".diff", ".patch"}
)
_DEVICE: Final = re.compile(
    r"\b(?:[AHBVL]\d{2,3}[A-Z]*|RTX|TPU|GPUs?|CPUs?|cores?|NVIDIA|AMD|Intel|Xeon|EPYC|laptop|machine|node|device|seat)\b",
    re.I,
)


@dataclass(frozen=True)
class Edit:
    """Other text for a span of a file."""

    at: Span
    new: str


@dataclass(frozen=True, kw_only=True)
class Word:
    """What is wrong with a claim at one place, and the edits that mend it, none where only a person can."""

    path: Path
    line: int
    claim: str
    said: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Held:
    """One anchor with its measurement, None where no measurement has its name."""

    path: Path
    anchor: Anchor
    measured: Measurement | None


@dataclass(kw_only=True)
class Judged:
    """What was found in some files.

    Args:
        held: every anchor that somebody meant.
        unbound: claims that do not say what was measured, were taken back, or name nothing.
        stale: claims of code that changed.
        placeless: claims of a speed that say nowhere what they were measured on, and ids where none is read.
    """

    held: list[Held] = field(default_factory=list)
    unbound: list[Word] = field(default_factory=list)
    stale: list[Word] = field(default_factory=list)
    placeless: list[Word] = field(default_factory=list)

    @property
    def covered(self) -> int:
        return sum(bool(one.measured and one.measured.code) for one in self.held)


def judge(sheets: Iterable[Sheet], measurements: Measurements, root: Path) -> Judged:
    """Return what is wrong with the claims of some files.

    Args:
        root: the project, in which the code lies that measurements cover.
    """
    found = Judged()
    changed: dict[str, tuple[str, ...]] = {}
    for sheet in sheets:
        found.placeless += _unread(sheet, measurements)
        for anchor in sheet.anchors:
            measured = measurements.last(anchor.claim)
            if measured is None and anchor.is_sentence:
                continue
            found.held.append(Held(path=sheet.path, anchor=anchor, measured=measured))
            said, edits = _against(anchor, measured, measurements)
            if said:
                found.unbound.append(_word(sheet, anchor, said, edits))
            elif measured is not None:
                if measured.name not in changed:
                    changed[measured.name] = tuple(f"{one.target} {one.how}" for one in moved(measured.code, root))
                if changed[measured.name]:
                    since = f"since {measured.date.date().isoformat()}"
                    found.stale.append(_word(sheet, anchor, f"{', '.join(changed[measured.name])} {since}"))
                if _is_placeless(anchor, measured):
                    found.placeless.append(_word(sheet, anchor, f'"{anchor.written}" says nowhere on what device'))
        if sheet.is_document and TABLE in sheet.text:
            found.unbound += _tables(sheet, measurements)
    return found


def age(measured: Measurement, as_of: datetime.date) -> str:
    """Say how long ago something was measured."""
    days = (as_of - measured.date.date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{days:,} days ago"


def agrees(anchor: Anchor, measured: Measurement) -> bool:
    """Say whether a number is what was measured, in whatever unit, rounded as it is written."""
    if anchor.quantity is not None:
        exact = as_quantity(measured, anchor.quantity)
        if exact is not None or measured.unit:
            return exact is not None and same(anchor.quantity, exact)
    if anchor.quantity is not None:
        written, half = (part / anchor.quantity.scale for part in (anchor.quantity.exact, anchor.quantity.half_width))
    else:
        written = bare_number(anchor.written)
        exponent = written.as_tuple().exponent
        half = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) / 2
    return abs(written - in_unit(measured, anchor.unit)) <= half


def _against(anchor: Anchor, measured: Measurement | None, measurements: Measurements) -> tuple[str, tuple[Edit, ...]]:
    if measured is None and measurements.superseded(anchor.claim) is None:
        near = measurements.near(anchor.claim)
        hint = f'; did you mean "{near}"' if near else ""
        return f'no measurement is named "{anchor.claim}"{hint}' if anchor.claim else "it names no measurement", ()
    taken_back = measurements.superseded(anchor.claim)
    if taken_back is not None:
        now = said_now(anchor.claim, measurements)
        if now is None:
            return f'"{anchor.written}" was taken back: {taken_back.why}', ()
        mended = () if anchor.problem else _mended(anchor, now, measured)
        edits = (*mended, *_renamed(anchor, now.name)) if mended else ()
        right = as_written(now)
        return f'"{anchor.written}" was taken back: {taken_back.why}; it is {right} ({now.name})', edits
    if anchor.problem:
        return anchor.problem, ()
    assert measured is not None
    if agrees(anchor, measured):
        return "", ()
    new = in_place_of(anchor.written, anchor.quantity, measured, anchor.unit)
    right = as_written(measured) if anchor.unit else new if anchor.quantity else f"{new} {measured.unit}".rstrip()
    units = {one.unit for one in measurements.history(anchor.claim)}
    is_certain = anchor.quantity is not None or anchor.unit is not None or len(units) == 1
    edits = (Edit(anchor.at, new),) if is_certain else ()
    return f'"{anchor.written}" where {right.lstrip("~≈ ")} was measured', edits


def _mended(anchor: Anchor, now: Measurement, before: Measurement | None) -> tuple[Edit, ...]:
    """Return what puts another measurement in the place of the one that was taken back, none where a person must.

    A bare number stays in the unit that it was in: nobody looks at ``LIMIT = 4.3`` and thinks of seconds.
    """
    unit = anchor.unit or (unit_of(before.unit) if before is not None else None)
    if anchor.quantity is None and before is not None and now.unit != before.unit:
        exact = quantity_of(now.value, now.unit)
        if unit is None or exact is None or exact.dimension != unit.dimension:
            return ()
    return (Edit(anchor.at, in_place_of(anchor.written, anchor.quantity, now, unit)),)


def _renamed(anchor: Anchor, name: str) -> Iterator[Edit]:
    if name != anchor.claim:
        yield Edit(anchor.claim_at, name)


def _unread(sheet: Sheet, measurements: Measurements) -> Iterator[Word]:
    """Yield ids of measurements in a text of which nobody knows how it would carry one; data may hold any."""
    if sheet.kind or sheet.path.suffix.lower() in _DATA:
        return
    line, counted = 1, 0
    for mark in _MARK.finditer(sheet.text):
        line += sheet.text.count("\n", counted, mark.start())
        counted = mark.start()
        if measurements.last(mark[1]) is not None:
            said = f"its id is not read in {sheet.path.suffix or 'such'} files, so nothing is held against it"
            yield Word(path=sheet.path, line=line, claim=mark[1], said=said)


def _is_placeless(anchor: Anchor, measured: Measurement) -> bool:
    """Say whether a claim of time or speed is of no device that anybody could name."""
    exact = quantity_of(measured.value, measured.unit)
    if exact is None or not _SPEED.search(exact.dimension):
        return False
    return not measured.device and not measured.seat and not _DEVICE.search(anchor.near)


def _tables(sheet: Sheet, measurements: Measurements) -> Iterator[Word]:
    for table in declared(sheet.text, measurements):
        if not table.is_current(sheet.text):
            said = table.problem or "the table of superseded claims is not what measurements.jsonl says"
            edits = () if table.problem else (Edit(table.at, table.wanted),)
            yield Word(path=sheet.path, line=table.line, claim=TABLE, said=said, edits=edits)


def _word(sheet: Sheet, anchor: Anchor, said: str, edits: tuple[Edit, ...] = ()) -> Word:
    return Word(path=sheet.path, line=anchor.line, claim=anchor.claim, said=said, edits=edits)
