"""One reference, and one that leads nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reference:
    """One place that points at another: a file, an anchor in it, or a numbered section of it."""

    path: Path
    line: int
    text: str
    target: Path
    anchor: str = ""
    section: str = ""
    guessed: bool = False
    """Its document was found by its name alone."""


@dataclass(frozen=True)
class Broken:
    """A reference that points to nothing."""

    reference: Reference
    said: str
