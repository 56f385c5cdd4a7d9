"""What was seen of one marked test, and the word for it.

A guard whose every catch is a crash is INERT: a test that only calls the function falls over when the function does,
and would pass whatever the function answered. So the word hangs on assertions; crashes are counted beside them.

Blind to: whether the function has the property at all; that is for the test to know.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any


class Word(enum.Enum):
    """What can be said of a guard."""

    PROVED = "PROVED"
    WEAK = "WEAK"
    INERT = "INERT"
    NOT_REACHED = "NOT-REACHED"
    ERROR = "ERROR"


class Ending(enum.StrEnum):
    """How a test ended with a disarmed function under it; the later in this order, the more it says."""

    PASSED = "passed"
    SKIPPED = "skipped"
    HUNG = "hung"
    CRASHED = "crashed"
    ASSERTED = "asserted"

    @property
    def is_caught(self) -> bool:
        return self in (Ending.HUNG, Ending.CRASHED, Ending.ASSERTED)


_WEIGHT = {ending: place for place, ending in enumerate(Ending)}


@dataclass(frozen=True, kw_only=True)
class Disarm:
    """One mutant and how it ended: ``file:line``, what was changed, and the line that it was changed in.

    Args:
        is_run: whether the test runs that line at all; True where nobody could look.
    """

    at: str
    operator: str
    was: str
    becomes: str
    text: str
    ending: Ending
    is_run: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        return (self.at, self.operator, self.was, self.becomes)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that one session saw of one marked test: of all of its parameters, on whatever worker each of them ran.

    Args:
        error: why nothing was asked, or why what was asked does not count.
        is_declared_wrong: whether the error lies in the marker, which no other session would find right.
        unasked: how many disarms there was no time for.
        digests: SHA-256 of the source of the ``function`` and of the ``test``.
    """

    test: str
    target: str
    says: str = ""
    error: str = ""
    is_declared_wrong: bool = False
    is_reached: bool = False
    disarms: tuple[Disarm, ...] = ()
    unasked: int = 0
    seconds: float = 0.0
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.test, self.target, self.says)

    @property
    def caught(self) -> tuple[Disarm, ...]:
        return tuple(one for one in self.disarms if one.ending.is_caught)

    @property
    def missed(self) -> tuple[Disarm, ...]:
        return tuple(one for one in self.disarms if not one.ending.is_caught)

    def count(self, ending: Ending) -> int:
        return sum(one.ending is ending for one in self.disarms)

    @property
    def why(self) -> str:
        if self.error:
            return self.error
        if self.is_reached and not self.disarms and not self.unasked:
            return "nothing in the function can be disarmed"
        return f"no time for {self.unasked} more disarms" if self.unasked else ""

    @property
    def word(self) -> Word:
        if self.error:
            return Word.ERROR
        if not self.is_reached:
            return Word.NOT_REACHED
        if self.why:
            return Word.ERROR
        if not self.count(Ending.ASSERTED):
            return Word.INERT
        return Word.WEAK if self.missed else Word.PROVED

    @property
    def blocks(self) -> bool:
        """Whether the session must not end well: this test would not say no."""
        return self.word in (Word.INERT, Word.NOT_REACHED) or self.is_declared_wrong

    def merged(self, other: Evidence) -> Evidence:
        """Return what two workers saw of the parameters of one test: a disarm is caught where either caught it."""
        if self.error or other.error:
            return self if other.error and not self.error else other  # what was seen counts before what was not
        best = {one.key: one for one in self.disarms}
        for one in other.disarms:
            held = best.get(one.key)
            if held is None or (_WEIGHT[one.ending], one.is_run) > (_WEIGHT[held.ending], held.is_run):
                best[one.key] = one
        return replace(
            self,
            is_reached=self.is_reached or other.is_reached,
            disarms=tuple(best.values()),
            unasked=min(self.unasked, other.unasked),
            seconds=self.seconds + other.seconds,
        )


def packed(evidence: Evidence) -> dict[str, Any]:
    """Return plain data, as it crosses from a worker."""
    return asdict(evidence) | {"disarms": [asdict(one) | {"ending": str(one.ending)} for one in evidence.disarms]}


def unpacked(said: Mapping[str, Any]) -> Evidence:
    disarms = tuple(Disarm(**{**one, "ending": Ending(one["ending"])}) for one in said["disarms"])
    return Evidence(**{**said, "disarms": disarms})
