"""The table of superseded claims: generated into the document that declares it, and held against it.

A document declares it by ``<!-- affidavit:superseded -->`` and ``<!-- /affidavit:superseded -->``; what stands between
is ours. A row is never taken out: an old number is asked about for as long as somebody remembers it.

Source: playbook §4.7.
Blind to: claims that were measured again without being taken back; their history stands in ``measurements.jsonl``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.claims.anchor.markdown import prose
from affidavit.claims.anchor.place import Span
from affidavit.claims.wording import as_written
from affidavit.record.measurement import Measurement, Measurements, Supersession

_OPENS: Final = re.compile(r"<!--[ \t]*affidavit:superseded[ \t]*-->")
_CLOSES: Final = re.compile(r"<!--[ \t]*/affidavit:superseded[ \t]*-->")
_HEAD: Final = ("Claim", "It said", "It says now", "Why", "It was true of", "Since")
_NONE: Final = "–"


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Where a document wants the table: what stands there now, and what is to stand there; ``problem`` in its place."""

    line: int
    at: Span
    wanted: str
    problem: str = ""

    def is_current(self, text: str) -> bool:
        return not self.problem and self.at.of(text) == self.wanted


def declared(text: str, measurements: Measurements) -> Iterator[Declared]:
    """Yield each place of a document at which the table is to stand."""
    seen = prose(text)
    opened = [*_OPENS.finditer(seen)]
    for number, mark in enumerate(opened):
        following = opened[number + 1].start() if number + 1 < len(opened) else len(seen)
        closed = _CLOSES.search(seen, mark.end(), following)
        end = closed.start() if closed else mark.end()
        newline = "\r\n" if "\r\n" in text else "\n"
        yield Declared(
            line=text.count("\n", 0, mark.start()) + 1,
            at=Span(mark.end(), end),
            wanted=newline + table(measurements).replace("\n", newline),
            problem="" if closed else "no <!-- /affidavit:superseded --> follows it",
        )


def table(measurements: Measurements) -> str:
    """Return the table as Markdown, a row for each claim that was ever taken back, the oldest first."""
    rows = [
        _row(one, claim, measurements)
        for one in sorted(measurements.supersessions, key=lambda one: one.date)
        for claim in one.claims
    ]
    if not rows:
        return "Nothing was taken back.\n"
    ruler = "|".join(["", *(" --- " for _ in _HEAD), ""])
    return "".join(f"{line}\n" for line in (_line(_HEAD), ruler, *map(_line, rows)))


def said_by(claim: str, one: Supersession, measurements: Measurements) -> Measurement | None:
    """Return what a claim said when it was taken back, or None where it was never measured."""
    earlier = [measured for measured in measurements.history(claim) if measured.date <= one.date]
    return earlier[-1] if earlier else None


def said_now(claim: str, measurements: Measurements) -> Measurement | None:
    """Return what stands in the place of a claim: its own newest measurement, or that of the last of its successors.

    None where nothing does, or where successors go round in a circle.
    """
    seen: set[str] = set()
    name = claim
    while name not in seen:
        seen.add(name)
        taken_back = measurements.superseded(name)
        if taken_back is None:
            return measurements.last(name)
        name = taken_back.by
    return None


def _row(one: Supersession, claim: str, measurements: Measurements) -> tuple[str, ...]:
    said, now = said_by(claim, one, measurements), said_now(claim, measurements)
    new = "" if now is None else as_written(now)
    by = f" ({now.name})" if now is not None and now.name != claim else ""
    said_then = "" if said is None else as_written(said)
    return claim, said_then, f"{new}{by}", one.why, one.scope_was, one.date.date().isoformat()


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text that stays in its cell, and is neither a tag nor the end of the table."""
    flat = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return flat.replace("<", "&lt;") or _NONE
