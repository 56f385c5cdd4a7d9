"""When the live facts are all in: every rank of this node has written its ``live`` line, or waiting is over."""

from __future__ import annotations

from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.journal import JournalError, read

SETTLE_SECONDS = 5.0
"""How long to wait for ranks whose journals are not even open, once every open one is live."""
GRACE_SECONDS = 30.0
"""How long to wait for a rank that opened its journal and is not live yet."""


class LiveWatch:
    """Looks at the journals of one attempt until they are live; a journal that did not grow is not read again.

    Blind to: ranks on other nodes; their own supervisors watch those.
    """

    def __init__(self, spool: Path, attempt: int) -> None:
        self._spool = spool
        self._attempt = attempt
        self._sizes: dict[Path, int] = {}
        self._live: dict[Path, bool] = {}
        self._worlds: set[int] = set()
        self._first = 0.0

    def is_live(self, now: float) -> bool:
        """Return whether the checklist can be shown, ``now`` being any clock that only goes forward."""
        for path in self._spool.glob(names.journal(self._spool, "*", self._attempt).name):
            self._look(path)
        live = sum(self._live.values())
        if not live:
            return False
        self._first = self._first or now
        waited = now - self._first
        if live >= max(self._worlds, default=1):
            return True
        return waited >= GRACE_SECONDS or (live == len(self._live) and waited >= SETTLE_SECONDS)

    def _look(self, path: Path) -> None:
        try:
            size = path.stat().st_size
            if self._live.get(path) or self._sizes.get(path) == size:
                return
            self._sizes[path] = size
            reading = read(path)
        except (OSError, JournalError):
            return  # not whole yet, or gone: the seal says so
        self._live[path] = reading.live_step > 0
        self._worlds.add(reading.world)
