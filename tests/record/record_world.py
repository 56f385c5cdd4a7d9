"""Small worlds for the tests of records: journals written as a training process writes them, runs that are sealed."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.journal import Journal, Reading, read
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Tally, Value
from affidavit.fact.vocabulary import load
from affidavit.record import manifest, seal
from affidavit.record.manifest import Attempt, Manifest, Status
from affidavit.record.record import Fact, Kind, Record, ordered

WORDS = load()
FLASH = Tally.count("calls", {"flash": 4})
MATH = Tally.count("calls", {"math": 4})
THEN = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)


def saw(term: str, value: Value, *, episode: int = 0, step: int = 2) -> Observation:
    return Observation(term, Aspect.RESOLVED, Known(value, WORDS[term].least, "the model"), episode, step)


def asked(term: str, value: Value, *, episode: int = 0) -> Observation:
    return Observation(term, Aspect.REQUESTED, Known(value, Method.DECLARED, "the script"), episode, 0)


def missed(
    term: str, cause: Cause = Cause.INSTRUMENT_FAILED, why: str = "it raised", *, episode: int = 0
) -> Observation:
    return Observation(term, Aspect.RESOLVED, Unknown(cause, why), episode, 2)


def journal(
    folder: Path,
    *observations: Observation,
    process: str = "",
    rank: int = 0,
    world: int = 1,
    attempt: int = 0,
    restart: int = 0,
    emits: Iterable[str] = (),
    live: int = 0,
    tail: bytes = b"",
) -> Reading:
    """Write the journal of one process as the session does, put ``tail`` behind it, and read it back."""
    process = process or f"host-{100 + rank}-{attempt}"
    path = names.journal(folder, process, attempt)
    written = Journal(path, process=process, details={"attempt": attempt, "restart": restart, "emits": list(emits)})
    written.write("bound", rank=rank, world=world, backend="gloo")
    for episode in sorted({seen.episode for seen in observations} or {0}):
        written.write("episode", number=episode, driver="Trainer")
    for seen in observations:
        written.observe(seen)
    if live:
        written.write("live", step=live)
    written.abandon()
    with path.open("ab") as file:
        file.write(tail)
    return read(path)


def record(*facts: Fact, world: int = 1, episodes: int = 1) -> Record:
    return Record(
        kind=Kind.RUN, subject="run-1", facts=ordered(facts), vocabulary=WORDS, world=world, episodes=episodes
    )


def fact(
    name: str, value: Value, *, ranks: tuple[int, ...] = (0,), episode: int = 0, request: Value | None = None
) -> Fact:
    return Fact(
        name=name,
        state=Known(value, WORDS[name].least, "the model"),
        request=None if request is None else Known(request, Method.DECLARED, "the script"),
        ranks=ranks,
        episode=episode,
    )


def document(subject: Record) -> Manifest:
    ended = Attempt(number=0, command=("python", "train.py"), started=THEN, ended=THEN, status=Status.FINISHED)
    return manifest.from_record(subject, affidavit="0.1.0", status=Status.FINISHED, attempts=(ended,))


def sealed(folder: Path, *facts: Fact) -> Path:
    """Return a folder in which a run with these facts is sealed."""
    seal.seal(folder, document(record(*facts)))
    return folder
