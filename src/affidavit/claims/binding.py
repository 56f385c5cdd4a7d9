"""Numbers that are mended and bound at once: each with the id of its measurement, where its place can carry one.

A copy that is mended and bound is the last one that anybody has to look for.

Blind to: links in reStructuredText and plain text, in which a mended number stays without its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from affidavit.claims.anchor.anchor import anchors
from affidavit.claims.anchor.place import COMMENTS, PYTHON, Span
from affidavit.claims.sheet import Sheet

_LINKED: Final = (".md", ".markdown", ".mdx", ".qmd", ".rmd")
_ROUNDS: Final = 3
"""How often a text is read with the ids that are left; beside one that is taken out another may be read otherwise."""


@dataclass(frozen=True, kw_only=True)
class Mended:
    """What is to stand at a place, and the measurement that it is of."""

    at: Span
    new: str
    claim: str


def bindings(sheet: Sheet, mended: Iterable[Mended]) -> dict[Span, str]:
    """Return what is to stand at each place: the number with its id, or alone where nobody would read the id there.

    Args:
        mended: numbers of this sheet, no two of which overlap.
    """
    wanted = sorted(mended, key=lambda one: one.at)
    texts = {one.at: _form(sheet, one) or one.new for one in wanted}
    for _ in range(_ROUNDS):
        tried = [one for one in wanted if texts[one.at] != one.new]
        unread = _unread(sheet, wanted, texts) if tried else []
        if not unread:
            return texts
        texts |= {one.at: one.new for one in unread}
    return {one.at: one.new for one in wanted}


def _form(sheet: Sheet, one: Mended) -> str:
    """Return a number with its id in the form of its place, "" where the place has none."""
    if sheet.path.suffix.lower() in _LINKED:
        before = sheet.text[sheet.text.rfind("\n", 0, one.at.start) + 1 : one.at.start]
        return f"[{one.new}](claim:{one.claim})" if before.count("[") == before.count("]") else ""
    return f"{one.new} (claim: {one.claim})" if sheet.kind in (PYTHON, COMMENTS) else ""


def _unread(sheet: Sheet, wanted: list[Mended], texts: dict[Span, str]) -> list[Mended]:
    """Return those whose id is not read, in a text that has them all."""
    parts: list[str] = []
    begins: dict[Span, int] = {}
    end = length = 0
    for one in wanted:
        before = sheet.text[end : one.at.start]
        begins[one.at] = length + len(before)
        parts += (before, texts[one.at])
        length += len(before) + len(texts[one.at])
        end = one.at.end
    read = anchors("".join((*parts, sheet.text[end:])), sheet.kind)
    found = {(one.claim, one.at.start) for one in read if not one.problem}
    return [
        one
        for one in wanted
        if texts[one.at] != one.new and found.isdisjoint((one.claim, begins[one.at] + shift) for shift in (0, 1))
    ]
