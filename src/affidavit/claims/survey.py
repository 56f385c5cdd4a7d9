"""All that is known of the numbers of some files: their claims, and the old values that still stand in them.

Blind to: values that were measured again and moved by less than a tenth: a measurement is never twice the same, and
nobody plans otherwise for it. One that was taken back is looked for however near the right one lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from affidavit.claims.anchor.anchor import anchors
from affidavit.claims.anchor.place import COMMENTS, PYTHON, Span, kind_of
from affidavit.claims.closeness import is_close
from affidavit.claims.copies import Copy, Told, copies, formers, loose, standing
from affidavit.claims.judged import Edit, Judged, Word, judge
from affidavit.claims.sheet import Sheet, read_sheet, sheets
from affidavit.claims.superseded import said_now
from affidavit.claims.wording import as_written, in_place_of
from affidavit.record.measurement import FILE, Measurements

_JITTER: Final = 0.1
_BOUND_MOST: Final = 200
"""Copies that are bound while they are mended; each is tried, and a file with more of them is mended by a program."""
_LINKED: Final = (".md", ".markdown", ".mdx", ".qmd", ".rmd")


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
        copies=tuple(
            _stale(one, measurements, sheet_of(one.path) if at < _BOUND_MOST else None) for at, one in enumerate(close)
        ),
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


def _stale(copy: Copy, measurements: Measurements, sheet: Sheet | None) -> Word:
    """Return an old number with what stands in its place, bound where it stands on a sheet."""
    taken_back = measurements.superseded(copy.told.claim)
    now = said_now(copy.told.claim, measurements)
    written = copy.found.written
    is_now = "" if now is None else f"{as_written(now)} ({now.name})" if taken_back else as_written(now)
    if taken_back is not None:
        said = f'"{written}" was taken back: {taken_back.why}' + (f"; it is {is_now}" if is_now else "")
    else:
        said = f'"{written}" was measured again: it is {is_now}'
    at = Span(copy.found.start, copy.found.end)
    edits: tuple[Edit, ...] = ()
    if now is not None:
        new = in_place_of(written, copy.found, now)
        edits = (Edit(at, bound(copy, sheet, new, now.name) if sheet else new),)
    return Word(path=copy.path, line=copy.line, claim=copy.told.claim, said=said, edits=edits)


def bound(copy: Copy, sheet: Sheet, new: str, claim: str) -> str:
    """Return a number with the id of its measurement, where its place can carry one; else as it is.

    A copy that is mended and bound is the last one that anybody has to look for.
    """
    text, at = sheet.text, Span(copy.found.start, copy.found.end)
    if copy.path.suffix.lower() in _LINKED:
        before = text[text.rfind("\n", 0, at.start) + 1 : at.start]
        tried = f"[{new}](claim:{claim})" if before.count("[") == before.count("]") else ""
    else:
        tried = f"{new} (claim: {claim})" if sheet.kind in (PYTHON, COMMENTS) else ""
    if not tried:
        return new
    found = anchors(f"{text[: at.start]}{tried}{text[at.end :]}", sheet.kind)
    is_read = any(
        one.claim == claim and one.at.start in range(at.start, at.start + 2) and not one.problem for one in found
    )
    return tried if is_read else new


def _loose(copy: Copy) -> Word:
    said = f'"{copy.found.written}" names no measurement; {copy.reasons[0]}'
    return Word(path=copy.path, line=copy.line, claim=copy.told.claim, said=said)


def _beside(copy: Copy, measurements: Measurements) -> Word:
    """Return an old number of which only what stands around it speaks of the claim: a person must say which it is."""
    found = _stale(copy, measurements, None)
    said = f"{found.said}; or it is of something else: {', '.join(copy.reasons)}"
    return replace(found, said=said, edits=())


def _unread(measurements: Measurements, root: Path) -> Iterator[tuple[Path, int, str]]:
    for problem in measurements.problems:
        place, _, why = problem.partition(": ")
        _, _, line = place.partition(":")
        yield root / FILE, int(line) if line.isdecimal() else 0, why or problem
