"""Everything that lies in a run folder and its spools, read together: who told what, who still lives."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.attach import heartbeat
from affidavit.attach.veto import VETOES
from affidavit.fact import folder as names
from affidavit.fact import journal
from affidavit.fact.journal import JournalError, Reading
from affidavit.record.manifest import Status
from affidavit.run.attempt import Told, read_attempts
from affidavit.run.place import is_over
from affidavit.run.process import Identity, Life, life, myself


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """A process that trained: what its journal says, and its last beat (None where its heartbeat is lost).

    ``place`` is the folder that the beat was read in: a spool, in which it is beaten, or the run folder with its copy.
    """

    reading: Reading
    beat: heartbeat.Beat | None
    host: str
    pid: int
    start: int
    place: Path | None = None

    @property
    def last_step(self) -> int:
        """The last step that its heartbeat or its journal shows."""
        seen = (observation.step for observation in self.reading.observations)
        return max([self.beat.step if self.beat else 0, self.reading.live_step, *seen])

    @property
    def last_seen(self) -> datetime.datetime | None:
        if self.beat is None:
            return None
        return datetime.datetime.fromtimestamp(self.beat.wall_ns / 1e9, datetime.timezone.utc)


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """A run as its folders show it; ``places`` are the run folder and the spools that can be seen from here."""

    folder: Path
    places: tuple[Path, ...]
    told: tuple[Told, ...]
    trainers: tuple[Trainer, ...]
    notes: tuple[str, ...]
    hello: str
    refused: tuple[str, ...]
    vetoed: tuple[str, ...]

    @property
    def run(self) -> str:
        return self.told[0].start.run if self.told else self.folder.name

    @property
    def numbers(self) -> tuple[int, ...]:
        """The attempts that anything speaks of, in order."""
        spoken = {told.start.number for told in self.told} | {one.reading.attempt for one in self.trainers}
        return tuple(sorted(spoken))

    @property
    def is_started(self) -> bool:
        """Whether the command was ever started; where every attempt was refused, all there is is the project."""
        refused = all(one.ended is not None and one.ended.status is Status.REFUSED for one in self.told)
        return bool(self.trainers) or not (self.told and refused)

    def of(self, number: int) -> tuple[tuple[Told, ...], tuple[Trainer, ...]]:
        """Return what the supervisors told, and who trained, in one attempt."""
        return (
            tuple(told for told in self.told if told.start.number == number),
            tuple(one for one in self.trainers if one.reading.attempt == number),
        )

    def alive(self) -> tuple[str, ...]:
        """Return who keeps this run from being over, each as a reader can look for it."""
        found: list[str] = []
        for told in self.told:
            start = told.start
            if told.ended is None and not is_over(told):
                found.append(f"the supervisor of attempt {start.number} on {start.supervisor.host}")
            if told.ended is None and told.child is not None and life(told.child.process) is Life.ALIVE:
                found.append(f"the command, process {told.child.process.pid}")
        for one in self.trainers:
            if self._lives(one):
                found.append(f"rank {one.reading.rank}, process {one.pid}")
        return tuple(found)

    def identity(self, one: Trainer) -> Identity | None:
        """Return who a process that trained is, or None where nobody says where its number means it.

        Where its journal does not say, its supervisor's boot and namespace stand for its own.
        """
        near = [told.start.supervisor for told in self.of(one.reading.attempt)[0]] or [myself()]
        beside = next((found for found in near if _as_in_name(found.host) == one.host), None)
        if beside is None:
            return None
        boot, namespace = one.reading.opened.get("boot"), one.reading.opened.get("namespace")
        return replace(
            beside,
            pid=one.pid,
            start=one.start,
            boot=boot if isinstance(boot, str) else beside.boot,
            namespace=namespace if isinstance(namespace, int) else beside.namespace,
        )

    def _lives(self, one: Trainer) -> bool:
        process = self.identity(one)
        return process is not None and life(process) is Life.ALIVE


def gather(folder: Path) -> Gathered:
    """Return what a run folder and its spools hold. An unreadable journal is a note, never the end of the others.

    Raises:
        AttemptError: what a supervisor wrote cannot be read.
    """
    told = read_attempts(folder)
    places = (folder, *dict.fromkeys(Path(one.start.spool) for one in told if one.start.spool))
    notes: list[str] = []
    longest: dict[str, Reading] = {}
    for path in (path for place in places for path in names.journals(place)):
        try:
            reading = journal.read(path)
        except (OSError, JournalError) as error:
            notes.append(str(error))
            continue
        before = longest.get(path.name)
        if before is None or _length(reading) >= _length(before):
            longest[path.name] = reading
    return Gathered(
        folder=folder,
        places=places,
        told=told,
        trainers=tuple(_trainer(reading, places) for _, reading in sorted(longest.items())),
        notes=tuple(dict.fromkeys(notes)),
        hello=next((text for place in places if (text := _text(place / names.HELLO))), ""),
        refused=_lines(places, names.REFUSED),
        vetoed=_lines(places, VETOES),
    )


def steps(trainers: Sequence[Trainer]) -> Mapping[str, int]:
    """Return each process's last step, as the merge wants it."""
    return {one.reading.process: one.last_step for one in trainers}


def _length(reading: Reading) -> tuple[bool, int, int, int]:
    return bool(reading.closed), len(reading.observations), len(reading.episodes), reading.live_step


def _trainer(reading: Reading, places: Sequence[Path]) -> Trainer:
    # A spool before the run folder: of two files that say the same, the one that is beaten is no copy.
    paths = [names.heartbeat(place, reading.process, reading.attempt) for place in reversed(places)]
    beats = [(beat, path.parent) for path in paths if path.is_file() and (beat := heartbeat.read(path)) is not None]
    beat, place = max(beats, key=lambda found: found[0].beats, default=(None, None))
    host, pid, start = (*reading.process.rsplit("-", 2), "", "")[:3]
    return Trainer(
        reading=reading,
        beat=beat,
        place=place,
        host=host,
        pid=int(pid) if pid.isdecimal() else 0,
        start=int(start) if start.isdecimal() else 0,
    )


def _as_in_name(host: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in host)


def _lines(places: Sequence[Path], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for place in places for line in _text(place / name).splitlines()))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace") if path.is_file() else ""
    except OSError:
        return ""
