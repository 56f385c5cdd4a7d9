"""What a cache says to the run that it serves: to the session where this process is watched, and else to nobody.

Blind to: a process that is watched only later; what was served before then stays unsaid.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from affidavit.attach.moment import Moment

_SAID: set[str] = set()


class CacheWarning(UserWarning):
    """Something was not cached, or was built again because what lay there could not be believed."""


def fire(moment: Moment) -> None:
    """Hand a moment to the session, if there is one."""
    if (live := _session()) is not None:
        live.fire(moment)


def note(text: str) -> None:
    """Write a line into the record, if there is one."""
    if (live := _session()) is not None:
        live.note(text)


def warn(text: str) -> None:
    """Say something once in this process, and in the record."""
    if text not in _SAID:
        _SAID.add(text)
        note(text)
        warnings.warn(text, CacheWarning, stacklevel=3)


def _session() -> Any:
    """A cache lies below what makes sessions; whoever is watched has loaded that long before."""
    return getattr(sys.modules.get("affidavit.boot"), "_session", None)
