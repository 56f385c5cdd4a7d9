"""What holds of a run folder, read raw: every file against the digest that names it, every signature, every copy.

Others read a record through the fold and trust what the seal says of itself. Here nothing is taken for granted.

What is caught, by what a project has; ``tests/run/test_run_attacks.py`` holds it to each row::

    done to a folder by somebody who may write it           unsigned  signed    signed, witness
    a fact is edited                                        caught    caught    caught
    evidence is edited, swapped or added                    caught    caught    caught
    a correction is edited, reordered or cut off            caught    caught    caught
    another run's folder is put in its place                caught    caught    caught
    the seal is taken away                                  unknown   unknown   caught
    a fact is edited, and the head made anew                -         caught    caught
    the corrections are cut off, and the head made anew     -         caught    caught
    manifest, corrections and head are written anew         -         caught    caught
    the same, and the envelopes taken away                  -         unknown   caught
    the same, signed by another key                         unknown   caught    caught
    an older state is put back whole, its envelopes with it -         -         caught
    the key's holder writes and signs all of it anew        -         -         caught
    and moves the witness's ref                             -         -         -

"unknown" is said and never passes: exit code 4. Evidence that is gone is unknown, too: it may have been deleted for
good reason, and what it said is told by no other file.

Source: anchors-provenance §11.3.
Blind to: journals, heartbeats and launch files, which the seal was made from and does not name.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import Digest
from affidavit.record import canonical, chain, envelope, evidence, file, manifest, seal, statement
from affidavit.record.envelope import Envelope, EnvelopeError
from affidavit.record.key import SHORT, SigningUnavailableError
from affidavit.record.manifest import Manifest
from affidavit.record.seal import Head
from affidavit.record.standing import Examined, Standing
from affidavit.record.statement import StatementError
from affidavit.record.trust import Trust

SIGNATURE = "signature"
UNNAMED = "signed by a key that this project does not name"
_PARTS = (names.MANIFEST, names.HEAD, names.ANNOTATIONS, names.ENVELOPE, names.HEAD_ENVELOPE)
_NOTED = re.compile(r"attempt ([0-9]+) was sealed as (sha256:[0-9a-f]{64})")


@dataclass(frozen=True, kw_only=True)
class Links:
    """A sealed manifest with its corrections: each digest that a head may call the last one."""

    manifest: Digest
    links: tuple[Digest, ...]

    def carries(self, head: Head) -> bool:
        """Say whether a head speaks of this manifest and a beginning of these corrections."""
        return head.manifest == self.manifest and head.count < len(self.links) and self.links[head.count] == head.last


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Everything that was looked at in a folder, and what a witness outside of it can be held against.

    ``sealed`` are the manifests there, the current one last; ``run`` is what the manifest calls itself.
    """

    run: str
    examined: tuple[Examined, ...]
    sealed: tuple[Links, ...]
    is_signed: bool

    def and_(self, *more: Examined) -> Verified:
        return replace(self, examined=(*self.examined, *more))

    @property
    def worst(self) -> Standing:
        """How the folder stands: a contradiction before what could not be checked, and that before all else."""
        standings = {one.standing for one in self.examined}
        ranked = (Standing.BROKEN, Standing.UNCHECKED)
        return next((standing for standing in ranked if standing in standings), Standing.HOLDS)


def verify(folder: Path, trust: Trust) -> Verified:
    """Return everything that can be said of a run folder without asking anybody outside of it; nothing is raised."""
    own = _seal(folder, trust)
    examined = [_one("trusted key", Standing.UNCHECKED, said) for said in trust.problems]
    examined += own.examined
    places = sorted((folder / names.EARLIER).glob("*"))
    odd = {place: said for place in (folder / names.EARLIER, *places) if (said := _is_odd(place))}
    examined += [_one(names.EARLIER, Standing.BROKEN, f"{place.name!a} is {said}") for place, said in odd.items()]
    copies = {place.name: _seal(place, trust) for place in places if not odd}
    if own.document is not None:
        examined += evidence.examine(folder, own.document)
    noted = _noted(own.document) if own.document is not None else None
    examined += [_copy(name, copy, noted) for name, copy in copies.items()]
    examined += [
        _one(f"attempt {name}", Standing.UNCHECKED, f"its seal, {digest:.19}…, is not in {names.EARLIER}/{name}")
        for name, digest in (noted or {}).items()
        if name not in copies
    ]
    held = [one.links for one in (*copies.values(), own) if one.links is not None]
    return Verified(
        run=own.document.run if own.document is not None else folder.name,
        examined=tuple(examined),
        sealed=tuple(held),
        is_signed=any(one.what == SIGNATURE and one.standing is Standing.HOLDS for one in own.examined),
    )


def examine_seal(folder: Path, trust: Trust) -> tuple[Examined, ...]:
    """Return how the manifest, its corrections and their signatures stand, without the files that they name."""
    return _seal(folder, trust).examined


@dataclass(frozen=True, kw_only=True)
class _Seal:
    """One seal as it was looked at; ``document`` is there where the manifest can be read, ``links`` where all fits."""

    examined: tuple[Examined, ...]
    document: Manifest | None = None
    links: Links | None = None

    def reasons(self, standing: Standing) -> str:
        return "; ".join(f"{one.what}: {one.said}" for one in self.examined if one.standing is standing)


def _seal(folder: Path, trust: Trust) -> _Seal:
    """Look at one manifest, its head, its corrections and their envelopes."""
    if not any(os.path.lexists(folder / name) for name in _PARTS):
        return _Seal(examined=(_one("manifest", Standing.UNCHECKED, "not sealed"),))
    try:
        raw = _plain(folder / names.MANIFEST, manifest.SIZE_BYTES)
        document = manifest.decode(raw)
        manifest.to_record(document)
        if canonical.encode(canonical.parse(raw)) != raw:
            raise manifest.ManifestError(f"{names.MANIFEST} is not written as we write it")
    except AffidavitError as error:
        return _Seal(examined=(_one("manifest", Standing.BROKEN, _first(error)),))
    when = _sealed_at(folder, document)
    signature = _signature(folder, raw, trust, when)
    try:
        digest = seal.read_sealed(folder).digest
    except AffidavitError as error:
        broken = _one("manifest", Standing.BROKEN, _first(error))
        return _Seal(examined=(broken, signature), document=document)
    sealed = _one("manifest", Standing.HOLDS, f"{digest}, {len(raw):,} bytes, as {names.HEAD} says")
    try:
        walked = chain.walk(folder)
    except AffidavitError as error:
        broken = _one("corrections", Standing.BROKEN, _first(error))
        return _Seal(examined=(sealed, broken, signature), document=document)
    links = Links(manifest=digest, links=walked.links)
    times = (when, *(one.time for one in walked.annotations))
    signed = _signed_head(folder, links, times, trust, is_signed=signature.standing is not Standing.NONE)
    return _Seal(examined=(sealed, _corrections(walked), signature, *signed), document=document, links=links)


def _sealed_at(folder: Path, document: Manifest) -> datetime.datetime | None:
    """Return when a manifest was sealed, by its own word; what is no run was sealed for its first correction."""
    times = [attempt.ended for attempt in document.attempts]
    if not times:
        with contextlib.suppress(AffidavitError):  # what is wrong with the chain is told where it is looked at
            times = [one.time for one in chain.walk(folder).annotations[:1]]
    return max(times, default=None)


def _corrections(walked: chain.Walk) -> Examined:
    if walked.problems:
        return _one("corrections", Standing.BROKEN, "; ".join(walked.problems))
    if walked.surplus:
        return _one("corrections", Standing.UNCHECKED, "; ".join(walked.surplus))
    count = len(walked.annotations)
    if not count:
        return _one("corrections", Standing.NONE, "none")
    return _one("corrections", Standing.HOLDS, f"{count}, each on the one before it, as {names.HEAD} says")


def _signature(folder: Path, raw: bytes, trust: Trust, when: datetime.datetime | None) -> Examined:
    """Look at the envelope of the manifest, which was sealed when it says."""
    if not os.path.lexists(folder / names.ENVELOPE):
        said = f"unsigned: no {names.ENVELOPE}, and signatures are expected here" if trust.expects else "unsigned"
        return _one(SIGNATURE, Standing.UNCHECKED if trust.expects else Standing.NONE, said)
    try:
        found = envelope.read(folder / names.ENVELOPE)
        statement.check_manifest(found.payload, raw)
    except (EnvelopeError, StatementError) as error:
        return _one(SIGNATURE, Standing.BROKEN, f"{names.ENVELOPE}: {error}")
    return _by_whom(SIGNATURE, found, trust, when)


def _by_whom(what: str, found: Envelope, trust: Trust, when: datetime.datetime | None) -> Examined:
    """Say by which key an envelope is signed, and whether its signature holds."""
    short = f"{found.key[:SHORT]!a}".strip("'")
    named = [key for key in trust.keys if key.id == found.key]
    if not named:
        doubt = ", and not all that it names can be read" if trust.problems else ""
        doubt = doubt or ("" if trust.keys else "; it names none ([seal] trusted)")
        return _one(what, Standing.UNCHECKED if doubt else Standing.BROKEN, f"{UNNAMED} ({short}){doubt}")
    try:
        if envelope.holds(found, named[0]):
            return _retired(what, f"by {named[0].name} ({short})", named[0].id, trust, when)
    except SigningUnavailableError as error:
        return _one(what, Standing.UNCHECKED, _first(error))
    return _one(what, Standing.BROKEN, f"not made by {named[0].name} ({short}) over this payload")


def _retired(what: str, who: str, key: str, trust: Trust, when: datetime.datetime | None) -> Examined:
    """Say how a signature stands that holds: a key that gave way to another, or is revoked, seals nothing any more."""
    gone = trust.gone(key)
    if gone is None:
        return _one(what, Standing.HOLDS, f"{who}, whom this project trusts")
    told = f"{who}, {gone.said}"
    if when is None:
        return _one(what, Standing.UNCHECKED, f"{told}; nothing here says when this was sealed")
    if when > gone.since:
        return _one(what, Standing.BROKEN, f"{told}: this was sealed after it, on {when.date().isoformat()}")
    if gone.is_revoked:
        said = "it says that it was sealed before, and whoever has the key can say so"
        return _one(what, Standing.UNCHECKED, f"{told}: {said}")
    return _one(what, Standing.HOLDS, f"{told}; this was sealed before, by its own word")


def _signed_head(
    folder: Path, links: Links, times: Sequence[datetime.datetime | None], trust: Trust, *, is_signed: bool
) -> Iterator[Examined]:
    """Look at the envelope of the head: what it counts must be there, and what follows is not signed."""
    what = "signed head"
    if not os.path.lexists(folder / names.HEAD_ENVELOPE):
        if is_signed:
            yield _one(what, Standing.UNCHECKED, f"no {names.HEAD_ENVELOPE}: corrections may have been cut off")
        return
    try:
        found = envelope.read(folder / names.HEAD_ENVELOPE)
        head = statement.read_head(found.payload)
    except (EnvelopeError, StatementError) as error:
        yield _one(what, Standing.BROKEN, f"{names.HEAD_ENVELOPE}: {error}")
        return
    signed = _by_whom(what, found, trust, times[min(head.count, len(times) - 1)])
    if not links.carries(head):
        told = f"it counts {head.count} corrections of {head.manifest}, and they are not these"
        yield _one(what, Standing.BROKEN, told)
    elif signed.standing is Standing.HOLDS and head.count < len(links.links) - 1:
        unsigned = len(links.links) - 1 - head.count
        yield _one(what, Standing.UNCHECKED, f"{signed.said}; counts {head.count}, {unsigned} after it are unsigned")
    else:
        yield replace(signed, said=f"{signed.said}; counts {head.count} corrections")


def _noted(document: Manifest) -> dict[str, str]:
    """Return the seals of earlier attempts, each a note of its own: the words of a correction may hold such a line."""
    found = (_NOTED.fullmatch(note) for note in document.notes)
    return {one[1]: one[2] for one in found if one is not None}


def _copy(name: str, copy: _Seal, noted: Mapping[str, str] | None) -> Examined:
    """Look at the seal of an earlier attempt, which the seal that followed names by its digest."""
    what = f"attempt {name}"
    for standing in (Standing.BROKEN, Standing.UNCHECKED):
        if reasons := copy.reasons(standing):
            return _one(what, standing, reasons)
    digest = str(copy.links.manifest) if copy.links is not None else ""
    if noted is None:
        return _one(what, Standing.HOLDS, f"{digest}; no later seal is there to name it")
    if noted.get(name) != digest:
        return _one(what, Standing.BROKEN, f"{digest}, and the later seal says {noted.get(name, 'nothing of it')}")
    return _one(what, Standing.HOLDS, f"{digest:.19}…, as the later seal says")


def _is_odd(place: Path) -> str:
    """Return what lies where a folder is expected, or ""."""
    if place.is_symlink():
        return "a symbolic link"
    return "no folder" if place.exists() and not place.is_dir() else ""


def _plain(path: Path, limit: int) -> bytes:
    try:
        return file.read(path, limit=limit)
    except file.FileShapeError as error:
        raise manifest.ManifestError(f"{path.name}: {error}") from error


def _one(what: str, standing: Standing, said: str) -> Examined:
    return Examined(what=what, standing=standing, said=said)


def _first(error: AffidavitError) -> str:
    return str(error).partition("\n")[0]
