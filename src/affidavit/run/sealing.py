"""Seals a run that is over, whoever asks first: its supervisor, the next ``ls``, its next attempt.

A run whose supervisor was killed with it must not stay "running" for ever, and a run that still trains must not be
called dead. So nothing here depends on who asks, and a process counts as alive by identity, never by its number.

Blind to: a run on another host whose supervisor lost the shared folder and trains on; after a quarter of an hour
without its sign the run is sealed ABANDONED, and that seal stays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.term import Vocabulary
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record import canonical, chain, file, manifest, seal
from affidavit.record.manifest import Manifest
from affidavit.run.attempt import numbers
from affidavit.run.draft import draft
from affidavit.run.gathered import Gathered, gather
from affidavit.run.spool import publish, remove

Attest = Callable[[Path, str], None]
"""Called for a seal that was made here: its folder, and why nobody here can vouch for it, "" where somebody can."""


class SealingError(AffidavitError):
    """A run that is over cannot be sealed from here."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A run that is not over: who is alive, and how far it has come."""

    run: str
    attempt: int
    alive: tuple[str, ...]
    last_step: int


def ensure_sealed(
    folder: Path, vocabulary: Vocabulary | None = None, attest: Attest | None = None
) -> Manifest | Running:
    """Return the sealed manifest of a run that is over, sealing it where nobody has; else how it stands.

    Idempotent: two callers at once make one seal, and a sealed run is only read.

    Raises:
        SealingError: the folder cannot be written by us, or nothing of a run lies in it.
        SealError, ManifestError: what lies there as a seal is none.
        AttemptError: what a supervisor wrote cannot be read.
    """
    if not folder.is_dir():
        raise SealingError(_refused(folder, "no such folder"))
    try:
        if seal.is_sealed(folder) and not _is_outdated(folder):
            return seal.read_sealed(folder).manifest
        with file.alone(folder):  # so that none removes a spool that another reads; else the link decides
            set_aside(folder)
            if not seal.is_sealed(folder):
                gathered = gather(folder)
                if not gathered.numbers:
                    raise SealingError(_empty(folder))
                if alive := gathered.alive():
                    return _running(gathered, alive)
                doubt = _seal(folder, vocabulary or load_vocabulary())
                if attest is not None:
                    attest(folder, doubt)
            return seal.read_sealed(folder).manifest
    except OSError as error:
        raise SealingError(_refused(folder, f"{type(error).__name__}: {error.strerror or error}")) from error


def earlier(folder: Path) -> tuple[Path, ...]:
    """Return the folders of the seals of earlier attempts, the oldest first."""
    found = (place for place in (folder / names.EARLIER).glob("[0-9]*") if place.name.isdecimal())
    return tuple(sorted(found, key=lambda place: int(place.name)))


def set_aside(folder: Path) -> None:
    """Move the seal of an earlier attempt out of the way of the one that follows it; whoever holds its digest finds it.

    The files are linked where they shall be before they are taken from where they are, so a crash loses none, and the
    next call ends what this one began.
    """
    if not _is_outdated(folder):
        return
    document = manifest.decode(file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES))
    place = folder / names.EARLIER / str(max((attempt.number for attempt in document.attempts), default=0))
    place.mkdir(parents=True, exist_ok=True)
    parts = (names.HEAD, names.HEAD_ENVELOPE, names.ANNOTATIONS, names.ENVELOPE, names.MANIFEST)
    for name in parts:
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            os.link(folder / name, place / name)
    for name in parts:
        (folder / name).unlink(missing_ok=True)


def _is_outdated(folder: Path) -> bool:
    """Say whether the seal that is there speaks of fewer attempts than there are."""
    if not (folder / names.MANIFEST).is_file():
        return False
    sealed = manifest.decode(file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES))
    return max(numbers(folder), default=-1) > max((attempt.number for attempt in sealed.attempts), default=-1)


def _seal(folder: Path, vocabulary: Vocabulary) -> str:
    """Bring what the spools hold into the run folder, seal it, and remove the spools that hold nothing more.

    Return why nobody here can vouch for the seal, or "": a run folder may be shared, a spool is ours alone.
    """
    before = gather(folder)
    spools = before.places[1:]
    problems = {spool: publish(spool, folder) for spool in spools}
    notes = [f"not in the run folder: {problem}" for found in problems.values() for problem in found]
    for place in earlier(folder):
        notes += [f"attempt {place.name} was sealed as {_digest(place)}", *_corrections(place)]
    document = draft(gather(folder), vocabulary, notes=tuple(notes))
    digest = seal.seal(folder, document)
    for spool, found in problems.items():
        if not found:
            remove(spool)
    if digest != canonical.digest_bytes(manifest.encode(document)):
        return "its manifest lay there already, and is not the one that would be made here"
    if not any(spool.name == str(before.numbers[-1]) for spool in spools):
        return "nothing of it was left on this machine but a folder that others may write"
    return ""


def _corrections(place: Path) -> Iterator[str]:
    """Yield what was corrected in the record of an earlier attempt: its observations stand in the new one, too."""
    try:
        for said in chain.read(place):
            if said.falls:
                felled = f"{', '.join(said.falls)} ({said.reason})"
                yield f"a correction of attempt {place.name} fells nothing here; look whether it should: {felled}"
    except AffidavitError as error:
        yield str(error).partition("\n")[0]


def _digest(place: Path) -> str:
    return str(canonical.digest_bytes(file.read(place / names.MANIFEST, limit=manifest.SIZE_BYTES)))


def _running(gathered: Gathered, alive: tuple[str, ...]) -> Running:
    number = gathered.numbers[-1]
    steps = (one.last_step for one in gathered.of(number)[1])
    return Running(run=gathered.run, attempt=number, alive=alive, last_step=max(steps, default=0))


def _empty(folder: Path) -> str:
    return refusal(
        subject=f"run {folder.name}",
        expected="an attempt or a journal in its folder",
        saw="neither",
        means="There is nothing to seal: its run is only just being prepared, or it is no run folder.",
        action='Run "affidavit ls".',
        unaffected="everything in it",
    )


def _refused(folder: Path, saw: str) -> str:
    return refusal(
        subject=f"run {folder.name}",
        expected="a run folder that can be read and sealed",
        saw=saw,
        means="The run is over, and its record is not sealed.",
        action=f'Run "affidavit show {folder.name}" as its owner, or on the host where it ran.',
        unaffected="the journals and the spool, which stay where they are",
    )
