"""All that is known of the numbers of some files: their claims, and the old values that still stand in them.

Blind to: values that were measured again and moved by less than a tenth: a measurement is never twice the same, and
nobody plans otherwise for it. One that was taken back is looked for however near the right one lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from affidavit.claims.anchor.place import COMMENTS, Span, kind_of
from affidavit.claims.binding import Mended, bindings
from affidavit.claims.closeness import is_close
from affidavit.claims.copies import Copy, Told, copies, formers, loose, standing
from affidavit.claims.judged import Edit, Judged, Word, judge
from affidavit.claims.sheet import Sheet, read_sheet, sheets
from affidavit.claims.superseded import said_now
from affidavit.claims.wording import as_written, in_place_of
from affidavit.record.measurement import FILE, Measurements

_JITTER: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What was found.

    Args:
        files: how many were looked at.
        judged: their claims.
        old: values that stand no longer, and were looked for.
        copies: places that still say one of them, of the claim by their own sentence.
        loose: numbers beside a claim's words: in what is run such as name no measurement, anywhere such as are an old
            one, and of something else perhaps.
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
        launched: whether all of these files are about to run. A loose number beside a claim's words is told in what
            runs: in launchers and configs, and in scripts where they are launched.
    """
    files = tuple(paths)
    judged = judge(sheets(files), measurements, root)
    texts: dict[str, list[str]] = defaultdict(list)
    for held in judged.held:
        texts[held.anchor.claim].append(held.anchor.near)
    old = tuple(one for one in formers(measurements, texts) if _matters(one, measurements))
    found = copies(old, files)
    run = files if launched else [path for path in files if path.suffix and kind_of(path) == COMMENTS]
    sheet_of = cache(read_sheet)
    is_near = [_is_close(one, sheet_of(one.path)) for one in found]
    close = [one for one, near in zip(found, is_near, strict=True) if near]
    beside = [one for one, near in zip(found, is_near, strict=True) if not near]
    told = {(one.path, one.found.start) for one in found}
    named_nowhere = loose(standing(measurements, texts), run)
    free = (
        one for one in named_nowhere if (one.path, one.found.start) not in told and _is_close(one, sheet_of(one.path))
    )
    return Survey(
        files=len(files),
        judged=judged,
        old=len(old),
        copies=tuple(_bound(close, measurements, sheet_of)),
        loose=(*map(_loose, free), *(_beside(one, measurements) for one in beside)),
        unread=tuple(_unread(measurements, root)),
    )


def _matters(told: Told, measurements: Measurements) -> bool:
    if told.now is None or measurements.superseded(told.claim) is not None or not told.value.exact:
        return True
    if told.now.dimension != told.value.dimension:
        return True
    return abs(float(told.now.exact / told.value.exact) - 1) > _JITTER


def _is_close(copy: Copy, sheet: Sheet) -> bool:
    return is_close(copy.told, sheet.text, copy.found.start, copy.found.end, sheet.kind)


def _bound(close: list[Copy], measurements: Measurements, sheet_of: Callable[[Path], Sheet]) -> Iterator[Word]:
    """Yield old numbers, each with what mends it, bound where its place can carry an id."""
    mended: dict[Path, dict[Span, Mended]] = defaultdict(dict)
    for copy in close:
        now = said_now(copy.told.claim, measurements)
        if now is not None and not copy.found.whole:
            at = Span(copy.found.start, copy.found.end)
            mended[copy.path][at] = Mended(at=at, new=in_place_of(copy.found.written, copy.found, now), claim=now.name)
    texts = {path: bindings(sheet_of(path), ones.values()) for path, ones in mended.items()}
    for copy in close:
        at = Span(copy.found.start, copy.found.end)
        new = texts.get(copy.path, {}).get(at)
        yield _old(copy, measurements, () if new is None else (Edit(at, new),))


def _old(copy: Copy, measurements: Measurements, edits: tuple[Edit, ...] = ()) -> Word:
    taken_back = measurements.superseded(copy.told.claim)
    now = said_now(copy.told.claim, measurements)
    written = copy.found.whole or copy.found.written
    is_now = "" if now is None else f"{as_written(now)} ({now.name})" if taken_back else as_written(now)
    if taken_back is not None:
        said = f'"{written}" was taken back: {taken_back.why}' + (f"; it is {is_now}" if is_now else "")
    else:
        said = f'"{written}" was measured again: it is {is_now}'
    return Word(path=copy.path, line=copy.line, claim=copy.told.claim, said=said, edits=edits)


def _loose(copy: Copy) -> Word:
    said = f'"{copy.found.written}" names no measurement; {copy.reasons[0]}'
    return Word(path=copy.path, line=copy.line, claim=copy.told.claim, said=said)


def _beside(copy: Copy, measurements: Measurements) -> Word:
    """Return an old number of which only what stands around it speaks of the claim: a person must say which it is."""
    found = _old(copy, measurements)
    return replace(found, said=f"{found.said}; or it is of something else: {', '.join(copy.reasons)}")


def _unread(measurements: Measurements, root: Path) -> Iterator[tuple[Path, int, str]]:
    for problem in measurements.problems:
        place, _, why = problem.partition(": ")
        _, _, line = place.partition(":")
        yield root / FILE, int(line) if line.isdecimal() else 0, why or problem
