"""``attestations.jsonl``: what people answered to the questions of a project, and the bytes that they looked at.

It lies beside affidavit.lock and is committed like it. An answer is never edited; a later one stands before it.

Source: playbook §4.8. Blind to: whether somebody looked.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from affidavit.record import lines
from affidavit.record.ledger import is_not_yet, unreadable
from affidavit.record.row import Part


class Answer(Part, frozen=True, kw_only=True):
    """One answer: yes or no and why, whose, until when it holds, and the SHA-256 of each file that it is about."""

    question: str
    answer: Literal["yes", "no"]
    author: str
    time: datetime.datetime
    until: datetime.date
    about: dict[str, str]
    words: str = ""

    def holds_until(self, days: int) -> datetime.date:
        """Return the last day of an answer: the one that it names, and never later than a question lets it hold."""
        try:
            return min(self.until, self.time.date() + datetime.timedelta(days=days))
        except OverflowError:
            return self.until

    def doubt(self, about: Mapping[str, str], *, as_of: datetime.date, days: int) -> str:
        """Return why an answer no longer holds of what is there now, or "" where it does."""
        if unread := unreadable(about):
            return unread
        moved = sorted(name for name in {*self.about, *about} if self.about.get(name) != about.get(name))
        if moved:
            return f"changed since: {', '.join(moved[:3])}{' …' if len(moved) > 3 else ''}"
        if is_not_yet(self.time.date(), as_of):
            return f"dated {self.time.date()}, which is not yet"
        until = self.holds_until(days)
        return f"it held until {until}" if as_of > until else ""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """Every answer in the order in which they were given, and the lines that say none."""

    given: tuple[Answer, ...] = ()
    problems: tuple[str, ...] = ()

    def last(self, question: str, as_of: datetime.date) -> Answer | None:
        """Return the last answer by a day; one that is dated later hides none, and counts only where it is alone."""
        own = [one for one in self.given if one.question == question]
        true = [one for one in own if not is_not_yet(one.time.date(), as_of)]
        return next(reversed(true or own), None)


def read(path: Path) -> Answers:
    """Return the answers of a project; a missing file has none."""
    found = lines.read(path)
    given: list[Answer] = []
    problems = list(found.problems)
    for number, document in found.documents:
        try:
            given.append(msgspec.convert(document, Answer))
        except msgspec.ValidationError as error:
            problems.append(f"{path.name}:{number}: {error}")
    return Answers(given=tuple(given), problems=tuple(problems))
