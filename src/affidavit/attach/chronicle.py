"""The chronicle: all that one process writes down of its run.

Its journal opens when a training begins and not before. What instruments have seen until then waits for it; what a
reader should be told does not, because a process that never trains is read as well.

Blind to: what was observed in a process that never trained; it is dropped with it.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from affidavit.attach.guard import can_limit
from affidavit.attach.instrument import process_identity, process_place
from affidavit.attach.launch import Launch
from affidavit.attach.mark import leave
from affidavit.attach.moment import Written
from affidavit.fact import folder
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Observation

MOST_SAVES = 10_000
"""A script that saves more often than this writes something else than models."""


class Chronicle:
    """The journal of one process, once there is one. Writing costs one ``write``, and fails in silence."""

    def __init__(self) -> None:
        self._journal: Journal | None = None
        self._pending: list[Observation] = []
        self._saves = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a journal, be it that it fell silent."""
        return self._journal is not None

    @property
    def silenced(self) -> str:
        """Why the journal fell silent; "" while it has not, or is not there."""
        journal = self._journal
        return journal.silenced if journal is not None else ""

    @property
    def keeps(self) -> bool:
        """Whether what is written now is kept."""
        return self.is_open and not self.silenced

    def open(self, launch: Launch, details: Mapping[str, object]) -> None:
        """Open the journal, and say in its first line who writes."""
        process = process_identity()
        path = folder.journal(Path(launch.spool), process, launch.attempt)
        said = {
            **details,
            **process_place(),
            "attempt": launch.attempt,
            "began": time.time(),
            "command": hashlib.sha256("\0".join(sys.orig_argv).encode(errors="surrogateescape")).hexdigest()[:16],
            "limited": can_limit(),
        }
        self._journal = Journal(path, process=process, details=said)

    def write(self, kind: str, **fields: object) -> None:
        """Write a line, where there is a journal."""
        if self._journal is not None:
            self._journal.write(kind, **fields)

    def observe(self, seen: Observation) -> None:
        """Write down what an instrument says, at once or when the journal opens."""
        if self._journal is None:
            self._pending.append(seen)
        else:
            self._journal.observe(seen)

    def catch_up(self) -> None:
        """Write down what was seen before there was a journal."""
        pending, self._pending = self._pending, []
        for seen in pending:
            self.observe(seen)

    def note(self, text: str) -> None:
        """Say something to whoever reads the record, also before there is a journal."""
        if self._journal is not None:
            self._journal.write("note", text=text)
        elif (early := sys.modules.get("_affidavit_early")) is not None:
            early.refuse(text)

    def saved(self, moment: Written, launch: Launch, *, step: int) -> None:
        """Write down where a model was saved, and leave a mark beside it."""
        journal = self._journal  # a save may come from any thread, also while another one ends the session
        if journal is None:
            return
        self._saves += 1
        if self._saves > MOST_SAVES:
            if self._saves == MOST_SAVES + 1:
                self.note(f"saves after the first {MOST_SAVES:,} are not listed")
            return
        now = time.time()
        mark = leave(moment, launch, step=step, now=now)
        said = {"path": moment.path, "form": moment.form, "step": step, "mark": mark}
        journal.write("saved", **said, began=moment.began or now, ended=now)

    def close(self, reason: str, *, raised: str = "") -> None:
        """Write the last line."""
        if self._journal is not None:
            self._journal.close(reason, raised=raised)

    def abandon(self) -> None:
        """Write no more, not even a last line: in a forked child the journal is its parent's."""
        journal = self._journal
        if journal is None:
            return
        if not journal.silenced:  # one that has ended stays: what is noted after its end is told nowhere else
            self._journal = None
        journal.abandon()
