"""What a check can answer, and what the engine makes of it."""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass

from affidavit.fact.observation import Cause


class Verdict(enum.Enum):
    """FAIL contradicts; REVIEW is a default nobody confirmed; UNKNOWN was not seen. None of the three is a pass."""

    PASS = "PASS"
    FAIL = "FAIL"
    REVIEW = "REVIEW"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"


class Landmine(enum.Enum):
    """The seven lies a completed run can tell; each check guards one, and the checklist has one line for each."""

    CACHE = (
        "4.1",
        "cache keys cover the meaning",
        "A cache whose key leaves out an input that moves its output serves what another configuration had built.",
    )
    NAMES = (
        "4.2",
        "parameters exist in what is installed",
        "A value can be checked and right while the parameter that carried it is gone, or swallowed by **kwargs.",
    )
    RESULT = (
        "4.3",
        "what ran is what was asked",
        "A record of the request says nothing about the run: libraries fall back, drop, cast and skip without a word.",
    )
    TREE = (
        "4.4",
        "the commit describes the code",
        "A commit on the record is worth nothing where other bytes were executed.",
    )
    LIVENESS = (
        "4.5",
        "alarms can say dead",
        "A watchdog that matches its own command line, or a heartbeat of a thread beside the loop, cannot say dead.",
    )
    GATES = (
        "4.6",
        "gates can say no",
        "A test or a check that nobody has seen fail may be unable to.",
    )
    NUMBERS = (
        "4.7",
        "numbers are bound to measurements",
        "A number that was measured once is copied after it has changed.",
    )

    def __init__(self, section: str, title: str, story: str) -> None:
        self.section = section
        self.title = title
        self.story = story


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where: a file and line, a key or module path, a rank, a step, a row. Unused parts keep their empty value.

    ``said`` is what is wrong at this place, where the places differ in it.
    """

    path: str = ""
    line: int = 0
    key: str = ""
    rank: int | None = None
    step: int | None = None
    said: str = ""

    @property
    def fingerprint(self) -> str:
        """A short name that a waiver can use; it survives a moved line and another rank."""
        named = f"{self.path}\0{self.key}".encode(errors="surrogatepass")  # a file name need not be UTF-8
        return hashlib.sha256(named).hexdigest()[:12]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.path and self.line else self.path
        rank = "" if self.rank is None else f"rank {self.rank}"
        step = "" if self.step is None else f"step {self.step}"
        place = ", ".join(part for part in (where, self.key, rank, step) if part)
        return f"{place}: {self.said}" if self.said else place


@dataclass(frozen=True)
class Pass:
    """The property holds in everything that was examined; examining nothing is not a pass."""

    examined: int


@dataclass(frozen=True, kw_only=True)
class Fail:
    """A contradiction: with a request, with the lock, with itself."""

    expected: str
    saw: str
    means: str
    action: str = ""
    sites: tuple[Site, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Review:
    """A default that a library chose and nobody confirmed; it passes once the lock holds the ``accept`` terms."""

    expected: str
    saw: str
    means: str
    accept: tuple[str, ...]
    action: str = ""
    sites: tuple[Site, ...] = ()


@dataclass(frozen=True)
class Unproven:
    """The evidence is complete and still decides nothing: nothing moved, no ragged row was there."""

    why: str


Outcome = Pass | Fail | Review | Unproven


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """What a FAIL or a REVIEW says, part by part, for whoever draws its parts and not its lines."""

    expected: str
    saw: str
    means: str
    action: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check's answer about one episode of one case.

    Args:
        message: all of it as text; of a FAIL or a REVIEW the lines that every error of ours has.
        contradiction: the parts of those lines; None of any other verdict.
    """

    check: str
    landmine: Landmine
    verdict: Verdict
    message: str
    cites: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()
    cause: Cause | None = None
    examined: int = 0
    episode: int = 0
    unaffected: str = ""
    contradiction: Contradiction | None = None
