"""What a supervisor writes of its attempt: before the command starts, when it has started, and when it has ended.

Each is one small file of the run folder, written once: ``attempt.<number>.<task>.json``, ``child.…``, ``facts.…`` and
``ended.…``. Several supervisors of one job (a node each) share the number and differ in the task.
"""

from __future__ import annotations

import datetime
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Aspect, Observation, observation_from_json, observation_to_json
from affidavit.record import file
from affidavit.record.manifest import Count, Instant, Status
from affidavit.record.record import Fact, Kind
from affidavit.run.process import Identity
from affidavit.run.scheduler import Scheduler
from affidavit.run.spool import is_spool

FORMAT = 1
PULSE_SECONDS = 30.0
"""How often a living supervisor touches its attempt file, for those who cannot see its process."""
STALE_SECONDS = 900.0
"""How long that file must have been still before somebody on another host calls the attempt abandoned."""

FILE_BYTES = 1 << 20
"""The most bytes that such a file may have; a command line is the longest thing in one."""

_NAME = re.compile(r"attempt\.(\d{1,9})\.(\d{1,9})\.json")
Written = TypeVar("Written")


class AttemptError(AffidavitError):
    """A file of an attempt cannot be read: truncated, hostile, or of a newer version."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """One supervisor's share of one attempt of one run, as it was before the command started."""

    run: str
    number: int
    task: int
    kind: Kind
    recipe: str
    command: tuple[str, ...]
    cwd: str
    project: str
    spool: str
    supervisor: Identity
    scheduler: Scheduler
    started: Instant
    format: int = FORMAT


@dataclass(frozen=True, kw_only=True)
class Child:
    """The command as it runs; ``monotonic_ns`` is when it was started, by the clock of its boot, 0 if nobody says."""

    process: Identity
    monotonic_ns: int = 0
    format: int = FORMAT


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the command ended, as the supervisor saw it.

    ``code`` is the child's own as a shell gives it (128 + n for signal n), ``signal`` the n or 0.
    """

    status: Status
    code: int
    signal: Count
    ended: Instant
    notes: tuple[str, ...] = ()
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.status is Status.FINISHED and (self.code or self.signal):
            raise ValueError(f"FINISHED with exit code {self.code}, signal {self.signal}")
        if self.status is Status.FAILED and self.code <= 0:
            raise ValueError(f"FAILED with exit code {self.code}")


@dataclass(frozen=True, kw_only=True)
class Told:
    """Everything that one supervisor told of one attempt; ``pulse`` is when it last touched its file, Unix seconds."""

    start: Start
    child: Child | None
    ended: Ended | None
    facts: tuple[Fact, ...]
    pulse: float


def now() -> datetime.datetime:
    """Return this moment with its zone."""
    return datetime.datetime.now(datetime.timezone.utc)


def claim(folder: Path, start: Start) -> bool:
    """Write the attempt file where none is, and say whether it was us."""
    path = folder / f"attempt.{start.number}.{start.task}.json"
    return file.place_once(path, msgspec.json.format(msgspec.json.encode(start)))


def write_child(folder: Path, start: Start, process: Identity) -> None:
    child = Child(process=process, monotonic_ns=time.monotonic_ns())
    file.replace(folder / f"child.{start.number}.{start.task}.json", msgspec.json.encode(child))


def write_ended(folder: Path, start: Start, ended: Ended) -> None:
    file.replace(folder / f"ended.{start.number}.{start.task}.json", msgspec.json.encode(ended))


def write_facts(folder: Path, start: Start, facts: Sequence[Fact]) -> None:
    """Keep what was found before the command started; such facts have neither rank nor episode."""
    said = [observation_to_json(Observation(fact.name, Aspect.RESOLVED, fact.state)) for fact in facts]
    file.replace(
        folder / f"facts.{start.number}.{start.task}.json", msgspec.json.encode({"format": FORMAT, "facts": said})
    )


def numbers(folder: Path) -> tuple[int, ...]:
    """Return the numbers of the attempts that a run folder has files of."""
    return tuple(int(match[1]) for path in folder.glob("attempt.*.json") if (match := _NAME.fullmatch(path.name)))


def read_attempts(folder: Path) -> tuple[Told, ...]:
    """Return what every supervisor told, by attempt and task; ``spool`` is "" where there is none of ours.

    The spool may hold what could not be written to a run folder that was full.

    Raises:
        AttemptError: a file is truncated, hostile or newer.
    """
    found: list[Told] = []
    for path in folder.glob("attempt.*.json"):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        start = _read(path, Start)
        if not is_spool(Path(start.spool), run=folder.name, attempt=start.number):
            start = replace(start, spool="")
        suffix = f"{match[1]}.{match[2]}.json"
        places = (folder, *([Path(start.spool)] if start.spool else ()))
        found.append(
            Told(
                start=start,
                child=_first(places, f"child.{suffix}", Child),
                ended=_first(places, f"ended.{suffix}", Ended),
                facts=_facts(places, f"facts.{suffix}"),
                pulse=path.stat().st_mtime,
            )
        )
    return tuple(sorted(found, key=lambda told: (told.start.number, told.start.task)))


def _first(places: tuple[Path, ...], name: str, kind: type[Written]) -> Written | None:
    return next((_read(place / name, kind) for place in places if os.path.lexists(place / name)), None)


def _read(path: Path, kind: type[Written]) -> Written:
    try:
        raw = file.read(path, limit=FILE_BYTES)
        version = msgspec.json.decode(raw, type=_Format).format
        if version != FORMAT:
            raise AttemptError(
                f"{path}: expected format {FORMAT} (this version), saw {version}.\n"
                "Read it with the Affidavit that wrote it, or a newer one.\n"
                "Not affected: the journals and the sealed manifests of this run."
            )
        return msgspec.json.decode(raw, type=kind)
    except (file.FileShapeError, msgspec.MsgspecError) as error:
        raise AttemptError(
            f"{path}: expected what a supervisor wrote of its attempt, saw {type(error).__name__}: {error}.\n"
            "This means nobody can say how this attempt ended. Move the file away to seal from the journals alone.\n"
            "Not affected: the journals and the sealed manifests of this run."
        ) from error


class _Format(msgspec.Struct):
    format: int


class _Facts(msgspec.Struct):
    facts: list[dict[str, object]]
    format: int


def _facts(places: tuple[Path, ...], name: str) -> tuple[Fact, ...]:
    said = _first(places, name, _Facts)
    if said is None:
        return ()
    seen = (observation_from_json(one) for one in said.facts)
    return tuple(Fact(name=one.term, state=one.state) for one in seen)
