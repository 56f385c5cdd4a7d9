"""What can be said of a file's bytes: the closed set of verdicts, and which of them say that a record holds them."""

from __future__ import annotations

from enum import Enum
from typing import Final


class FileVerdict(Enum):
    """Whether the bytes that ran are the bytes that their owner's record describes."""

    COMMITTED = "committed"
    FILTER_ONLY = "filter-only"
    FILTER_HIDES = "filter-hides"
    MODIFIED = "modified"
    NOT_IN_COMMIT = "not-in-commit"
    CHANGED_SINCE = "changed-since"
    UNREADABLE = "unreadable"
    INSTALLED = "installed"
    DIFFERS_FROM_RECORD = "differs-from-record"
    GENERATED = "generated"
    STAMPED = "stamped"
    DIFFERS_FROM_STAMP = "differs-from-stamp"
    NOT_IN_STAMP = "not-in-stamp"
    STAMP_REFUSED = "stamp-refused"
    HUB = "hub"
    DIFFERS_FROM_HUB = "differs-from-hub"
    STDLIB = "stdlib"
    ORPHAN = "orphan"
    GIT_REFUSED = "git-refused"


DESCRIBED: Final = frozenset(
    {
        FileVerdict.COMMITTED,
        FileVerdict.FILTER_ONLY,
        FileVerdict.INSTALLED,
        FileVerdict.GENERATED,
        FileVerdict.STAMPED,
        FileVerdict.HUB,
        FileVerdict.STDLIB,
    }
)
"""Verdicts on files whose bytes some record holds."""

UNDETERMINED: Final = frozenset({FileVerdict.GIT_REFUSED, FileVerdict.STAMP_REFUSED, FileVerdict.UNREADABLE})
"""Verdicts on files that nobody could judge."""
