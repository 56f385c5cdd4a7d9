"""How a thing stands that was looked at: four words, and what was seen. They judge bytes, never a run."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Standing(enum.Enum):
    """How a thing stands that was looked at."""

    HOLDS = "holds"
    NONE = "none"
    UNCHECKED = "not checked"
    BROKEN = "contradicts"


@dataclass(frozen=True, kw_only=True)
class Examined:
    """One thing that was looked at, how it stands, and what was seen."""

    what: str
    standing: Standing
    said: str
