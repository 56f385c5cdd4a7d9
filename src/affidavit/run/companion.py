"""What the supervisor does beside the command: copies the record, looks for the live line, calls the checklist.

A thread of its own, because each of these can hang (a network file system that is gone, a callback of the caller's),
and the supervisor must pass on a signal and see the command end meanwhile.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from affidavit.attach.guard import describe
from affidavit.run.attempt import PULSE_SECONDS
from affidavit.run.launch import Prepared
from affidavit.run.live import LiveWatch
from affidavit.run.spool import publish

TICK_SECONDS = 0.2
LEAVE_SECONDS = 60.0

OnLive = Callable[[Path], str]
"""Called once when the live facts are in the run folder; returns why the command must end, or "" to let it go on."""


class Companion:
    """Publishes at the live moment, at each pulse and at the end; ``verdict`` says why the command must end, or "".

    What goes wrong here stands in ``notes`` and is raised nowhere.
    """

    def __init__(self, prepared: Prepared, on_live: OnLive | None) -> None:
        self.notes: dict[str, None] = {}
        self.verdict = ""
        self.is_settled = False
        self._prepared = prepared
        self._on_live = on_live
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="affidavit-companion", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Publish once more and end; a file system that does not answer is left to whoever seals later."""
        self._over.set()
        self._thread.join(LEAVE_SECONDS)
        if self._thread.is_alive():
            self.notes[f"the run folder did not answer within {LEAVE_SECONDS:g} s; the record stays in the spool"] = (
                None
            )

    def _attend(self) -> None:
        watch = LiveWatch(self._prepared.spool, self._prepared.start.number)
        pulse = time.monotonic()
        while not self._over.wait(TICK_SECONDS):
            if not self.is_settled and watch.is_live(time.monotonic()):
                self._publish()
                self._call()
                self.is_settled = True
            if time.monotonic() - pulse >= PULSE_SECONDS:
                pulse = time.monotonic()
                self._beat()
                self._publish()
        self._publish()

    def _call(self) -> None:
        if self._on_live is None:
            return
        try:
            self.verdict = self._on_live(self._prepared.folder)
        except Exception as error:  # noqa: BLE001  a checklist that cannot be drawn must not end the training it is about
            self.notes[f"the live checklist could not be shown: {describe(error)}"] = None

    def _publish(self) -> None:
        for problem in publish(self._prepared.spool, self._prepared.folder):
            self.notes[f"not in the run folder: {problem}"] = None

    def _beat(self) -> None:
        start = self._prepared.start
        try:
            os.utime(self._prepared.folder / f"attempt.{start.number}.{start.task}.json")
        except OSError as error:
            self.notes[f"the attempt's file could not be touched: {error.strerror or error}"] = None
