"""The journal: one append-only file a process that trained, and how it is read back.

Each line is one JSON object with a ``kind``: ``opened`` (who writes), ``bound`` (which rank it turned out to be),
``observation``, ``episode`` (an outer ``train()`` began or ended), ``live`` (the sampled step is over, so every live
fact is in), ``note`` (something a reader should be told) and ``closed``. A process that is killed leaves a torn last line or none: both are read and said, never repaired.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Observation, observation_from_json, observation_to_json
from affidavit.fact.values import ValueShapeError

FORMAT = 1
LINE_BYTES = 64 * 1024
"""The largest line that is written: a value of 8 KiB fits with room; evidence goes to its own file."""


class JournalError(AffidavitError):
    """A journal cannot be read: it is of a newer format, or no journal at all."""


class Journal:
    """Appends lines with one ``write`` each, so that a kill leaves at most one torn line.

    Falls silent for ever on the first ``OSError`` (full disk, read-only or removed folder): training matters more.
    ``silenced`` then holds the reason. Every write opens nothing and buffers nothing.
    """

    def __init__(self, path: Path, *, process: str, details: Mapping[str, object]) -> None:
        self.path = path
        self.silenced = ""
        self._descriptor = -1
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            self.silenced = f"{type(error).__name__}: {error}"
        self.write("opened", format=FORMAT, process=process, **details)

    def write(self, kind: str, **fields: object) -> None:
        if self.silenced:
            return
        line = json.dumps({"kind": kind, **fields}, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if len(line) > LINE_BYTES:
            line = (
                json.dumps({"kind": "note", "text": f"a {kind} line of {len(line)} bytes was left out"}).encode()
                + b"\n"
            )
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(f"wrote {written} of {len(line)} bytes")
        except OSError as error:
            self.silenced = f"{type(error).__name__}: {error}"

    def observe(self, seen: Observation) -> None:
        self.write("observation", **observation_to_json(seen))

    def close(self, reason: str) -> None:
        self.write("closed", reason=reason)
        self.abandon()

    def abandon(self) -> None:
        """Stop writing without a last line; a forked child does this with its parent's journal."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            self.silenced = self.silenced or "closed"
            os.close(descriptor)


@dataclass(frozen=True)
class Episode:
    """One outer ``train()`` call: who drove it, and how it ended ("" while it has not)."""

    number: int
    driver: str
    ended: str = ""


@dataclass
class Reading:
    """What one journal says, in order; ``torn`` and ``unreadable`` say what it could not."""

    process: str
    opened: Mapping[str, object]
    bound: Mapping[str, object] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    live_step: int = 0
    closed: str = ""
    torn: bool = False

    @property
    def rank(self) -> int:
        return int(str(self.bound.get("rank", 0)))

    @property
    def world(self) -> int:
        return int(str(self.bound.get("world", 1)))


def read(path: Path) -> Reading:
    """Return what a journal says; a torn last line is tolerated and said.

    Raises:
        JournalError: the file is no journal, or of a newer format than this version reads.
    """
    lines = path.read_bytes().split(b"\n")
    torn = lines.pop() != b""
    parsed = [_line(path, number, line) for number, line in enumerate(lines, 1)]
    if not parsed or parsed[0].get("kind") != "opened":
        raise JournalError(f"{path.name}: expected a journal that opens with its process, saw {lines[:1]!r:.120}.")
    opened = parsed[0]
    if opened.get("format") != FORMAT:
        raise JournalError(
            f"{path.name}: expected journal format {FORMAT} (this version), saw {opened.get('format')!r}. "
            "Read it with the Affidavit that wrote it, or a newer one."
        )
    reading = Reading(process=str(opened.get("process")), opened=opened, torn=torn)
    for number, line in enumerate(parsed[1:], 2):
        _take(reading, line, number)
    return reading


def _line(path: Path, number: int, raw: bytes) -> dict[str, object]:
    try:
        line = json.loads(raw)
    except ValueError:
        line = None
    if not isinstance(line, dict):
        return {"kind": "note", "text": f"{path.name} line {number} is unreadable"}
    return line


def _take(reading: Reading, line: dict[str, object], number: int) -> None:
    kind = line.pop("kind", None)
    if kind == "observation":
        try:
            reading.observations.append(observation_from_json(line))
        except (ValueShapeError, ValueError) as error:
            reading.notes.append(f"line {number} is unreadable: {error}")
    elif kind == "bound":
        reading.bound = line
    elif kind == "episode":
        episode = Episode(int(str(line["number"])), str(line["driver"]), str(line.get("ended", "")))
        if reading.episodes and reading.episodes[-1].number == episode.number:
            reading.episodes[-1] = episode
        else:
            reading.episodes.append(episode)
    elif kind == "live":
        reading.live_step = int(str(line["step"]))
    elif kind == "note":
        reading.notes.append(str(line.get("text")))
    elif kind == "closed":
        reading.closed = str(line.get("reason"))
