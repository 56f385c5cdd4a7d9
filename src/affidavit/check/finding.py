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

    CACHE = ("4.1", "cache keys cover the meaning")
    NAMES = ("4.2", "parameters exist in what is installed")
    RESULT = ("4.3", "what ran is what was asked")
    TREE = ("4.4", "the commit describes the code")
    LIVENESS = ("4.5", "alarms can say dead")
    GATES = ("4.6", "gates can say no")
    NUMBERS = ("4.7", "numbers are bound to measurements")

    def __init__(self, section: str, title: str) -> None:
        self.section = section
        self.title = title


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where: a file and line, a key or module path, a rank, a step, a row. Unused parts keep their empty value."""

    path: str = ""
    line: int = 0
    key: str = ""
    rank: int | None = None
    step: int | None = None

    @property
    def fingerprint(self) -> str:
        """A short name that a waiver can use; it survives a moved line and another rank."""
        return hashlib.sha256(f"{self.path}\0{self.key}".encode()).hexdigest()[:12]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.path and self.line else self.path
        rank = "" if self.rank is None else f"rank {self.rank}"
        step = "" if self.step is None else f"step {self.step}"
        return ", ".join(part for part in (where, self.key, rank, step) if part)


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
class Finding:
    """One check's answer about one episode of one case."""

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
