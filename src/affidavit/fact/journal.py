"""The journal: one append-only file a process that trained, and how it is read back.

Each line is one JSON object with a ``kind``: ``opened`` (who writes), ``bound`` (which rank it turned out to be),
``observation``, ``episode`` (an outer ``train()`` began or ended), ``live`` (the sampled step is over, so every live
fact is in), ``saved`` (a model was written to disk), ``note`` (something a reader should be told) and ``closed``. A
process that is killed leaves a torn last line or none: both are read and said, never repaired.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.fact.descriptor import hold
from affidavit.fact.encoding import EXACT_INTEGER
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import MOST, Observation, observation_from_json, observation_to_json
from affidavit.fact.values import ValueShapeError

FORMAT = 1
LINE_BYTES = 64 * 1024
"""The largest line that is written: a value of 8 KiB fits with room; evidence goes to its own file."""
JOURNAL_BYTES = 64 * 1024 * 1024
"""The largest file that is read as a journal; a training writes some dozens of lines."""


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
            self._descriptor = hold(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
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

    def close(self, reason: str, *, raised: str = "") -> None:
        """Write the last line; ``raised`` is the kind of error that nobody caught, "" where there was none."""
        self.write("closed", reason=reason, **({"raised": raised} if raised else {}))
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


@dataclass(frozen=True)
class Save:
    """A model that was written to ``path``: by what (``form``), after which step, and from when to when, Unix seconds.

    ``mark`` says what became of the file that tells the folder's run: "left", or why it was not.
    """

    path: str
    form: str
    step: int
    began: float
    ended: float
    mark: str


@dataclass
class Reading:
    """What one journal says, in order; ``torn`` and ``unreadable`` say what was written and cannot be read."""

    process: str
    opened: Mapping[str, object]
    bound: Mapping[str, object] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    live_step: int = 0
    closed: str = ""
    raised: str = ""
    torn: bool = False
    unreadable: list[int] = field(default_factory=list)

    @property
    def attempt(self) -> int:
        return _count(self.opened.get("attempt", 0))

    @property
    def generation(self) -> tuple[int, int]:
        """Return the attempt, and within it how often an elastic launcher had restarted its workers."""
        return self.attempt, _count(self.opened.get("restart", 0))

    @property
    def emits(self) -> tuple[str, ...]:
        """The terms that the loaded instruments promised to answer for."""
        promised = self.opened.get("emits")
        return tuple(map(str, promised)) if isinstance(promised, list) else ()

    @property
    def lost(self) -> str:
        """Say which part of what was written is lost, or "" where none is."""
        parts = [f"line {number} is unreadable" for number in self.unreadable[:3]]
        return ", ".join([*parts, "the last line is torn"] if self.torn else parts)

    @property
    def rank(self) -> int:
        return _count(self.bound.get("rank", 0))

    @property
    def world(self) -> int:
        return max(_count(self.bound.get("world", 1)), 1)


def read(path: Path) -> Reading:
    """Return what a journal says; a torn last line is tolerated and said.

    Raises:
        JournalError: the file is no journal, or of a newer format than this version reads.
    """
    lines = _bytes(path).split(b"\n")
    torn = lines.pop() != b""
    parsed = [_line(line) for line in lines]
    opened = parsed[0] if parsed else None
    if opened is None or opened.get("kind") != "opened":
        raise JournalError(f"{path.name}: expected a journal that opens with its process, saw {lines[:1]!r:.120}.")
    if opened.get("format") != FORMAT:
        raise JournalError(
            f"{path.name}: expected journal format {FORMAT} (this version), saw {opened.get('format')!r}. "
            "Read it with the Affidavit that wrote it, or a newer one."
        )
    reading = Reading(process=str(opened.get("process")), opened=opened, torn=torn)
    try:
        _count(opened.get("attempt", 0))
        _count(opened.get("restart", 0))
    except ValueShapeError as error:
        raise JournalError(f"{path.name}: it opens with an attempt or restart that is none: {error}.") from error
    for number, line in enumerate(parsed[1:], 2):
        try:
            if line is None:
                raise ValueShapeError("no JSON object")
            _take(reading, line)
        except (ValueShapeError, ValueError, KeyError) as error:
            reading.unreadable.append(number)
            reading.notes.append(f"line {number} is unreadable: {error}")
    return reading


def _bytes(path: Path) -> bytes:
    """Return the content of a plain file of bearable size; a pipe under that name would keep its reader for ever."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > JOURNAL_BYTES:
            saw = f"{status.st_size:,} bytes" if stat.S_ISREG(status.st_mode) else "no plain file"
            raise JournalError(f"{path.name}: expected a journal of {JOURNAL_BYTES:,} bytes at most, saw {saw}.")
        return opened.read()


def _line(raw: bytes) -> dict[str, object] | None:
    """Return the object on one line; a line longer than any that is written was written by somebody else."""
    try:
        line = json.loads(raw) if len(raw) <= LINE_BYTES else None
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _count(raw: object, most: int = MOST) -> int:
    if type(raw) is int and 0 <= raw < most:
        return raw
    raise ValueShapeError(f"expected a count, saw {raw!r:.80}")


def _text(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    raise ValueShapeError(f"expected text, saw {raw!r:.80}")


def _time(raw: object) -> float:
    if isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw < EXACT_INTEGER:
        return float(raw)
    raise ValueShapeError(f"expected a time, saw {raw!r:.80}")


def _take(reading: Reading, line: dict[str, object]) -> None:
    kind = line.pop("kind", None)
    if kind == "observation":
        reading.observations.append(observation_from_json(line))
    elif kind == "bound":
        bound = Reading(reading.process, reading.opened, bound=line)
        if bound.rank >= bound.world:
            raise ValueShapeError(f"rank {bound.rank} of a world of {bound.world}")
        reading.bound = line
    elif kind == "episode":
        episode = Episode(_count(line["number"]), str(line["driver"]), str(line.get("ended", "")))
        if reading.episodes and reading.episodes[-1].number == episode.number:
            reading.episodes[-1] = episode
        else:
            reading.episodes.append(episode)
    elif kind == "saved":
        path, form, mark = (_text(line[key]) for key in ("path", "form", "mark"))
        began, ended = (_time(line[key]) for key in ("began", "ended"))
        step = _count(line["step"], EXACT_INTEGER)
        reading.saves.append(Save(path=path, form=form, step=step, began=began, ended=ended, mark=mark))
    elif kind == "live":
        reading.live_step = _count(line["step"], EXACT_INTEGER)
    elif kind == "note":
        reading.notes.append(str(line.get("text")))
    elif kind == "closed":
        reading.closed, reading.raised = str(line.get("reason")), str(line.get("raised", ""))
