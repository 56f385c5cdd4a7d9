"""A key gives way to another: the old one signs the new one, and from then on only the new one seals.

What the old one sealed before stays valid. The signed word lies beside the public keys as ``NAME.rotation.json`` and is
committed like them, so that a project goes on to trust the same line of ``affidavit.toml``.

Source: in-toto Statement v1 in DSSE; The Update Framework §6.1 (a root signs its successor).
Blind to: the clock of whoever sealed. A stolen key can sign with a date of before; the git witness shows that one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from affidavit.fact.errors import AffidavitError
from affidavit.record import canonical, envelope, key
from affidavit.record.envelope import EnvelopeError
from affidavit.record.key import PrivateKey, PublicKey
from affidavit.record.manifest import Instant
from affidavit.record.row import Part
from affidavit.record.statement import STATEMENT
from affidavit.record.trust import Retired, Trust

SUFFIX = ".rotation.json"
KIND = "urn:affidavit:rotation:1"
MOST = 100
"""More keys than this in one line of succession are no succession."""


class RotationError(AffidavitError):
    """What says that a key gave way to another is not what we write, or not signed by the key that gave way."""


class _Subject(Part, frozen=True, kw_only=True):
    name: str
    digest: dict[str, str]


class _Word(Part, frozen=True, kw_only=True):
    format: int
    old: str
    new: str
    time: Instant


class _Statement(Part, frozen=True, kw_only=True):
    type: str = msgspec.field(name="_type")
    subject: tuple[_Subject, ...]
    predicate_type: str = msgspec.field(name="predicateType")
    predicate: _Word


def endorse(old: PrivateKey, new: PublicKey, *, name: str, time: datetime.datetime) -> bytes:
    """Return the envelope in which the old key says that the new one, in the file of this name, takes its place."""
    payload = canonical.encode(
        {
            "_type": STATEMENT,
            "subject": [{"name": name, "digest": {"sha256": new.id}}],
            "predicateType": KIND,
            "predicate": {"format": 1, "old": old.public.id, "new": new.id, "time": time.isoformat()},
        }
    )
    return envelope.sign(payload, old)


def succeeded(believed: Trust, folders: Iterable[Path]) -> Trust:
    """Return whom a project believes with who took the place of each, by the words that lie in these folders.

    What cannot be read is a problem and no error. A key gives way to one other: of several, an earlier holder may have
    named one. A key that is revoked passes nothing on, since a stranger may hold it.
    """
    words = [path for folder in dict.fromkeys(folders) for path in _words(folder)]
    keys, retired, problems = list(believed.keys), list(believed.retired), list(believed.problems)
    revoked = {one.id for one in believed.retired}
    for _ in range(min(len(words), MOST)):
        heirs: dict[str, dict[str, PublicKey]] = {}
        for path in tuple(words):
            try:
                found = _read(path, keys)
            except AffidavitError as error:
                problems.append(f"{path.name}: {str(error).partition(chr(10))[0]}")
                words.remove(path)
                continue
            if found is not None:
                made, gone = found
                heirs.setdefault(gone.id, {})[made.id] = made
                retired.append(gone)
                words.remove(path)
        for signer, several in heirs.items():
            held = {one.id for one in keys}
            unheld = [made for made in several.values() if made.id not in held]
            if len(several) == 1 and signer not in revoked:
                keys += unheld
                continue
            doubt = "one of several that its key" if len(several) > 1 else "what a key that is revoked"
            told = f"{doubt} gave way to; name it in [seal] trusted if it is right"
            problems += [f"{made.name}: {told}" for made in unheld]
    return replace(believed, keys=tuple(keys), retired=tuple(retired), problems=tuple(problems))


def _words(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob(f"*{SUFFIX}"))[:MOST]


def _read(path: Path, keys: Iterable[PublicKey]) -> tuple[PublicKey, Retired] | None:
    """Return the key that a trusted one signed, and the trusted one as retired; None where none of these signed it.

    Raises:
        RotationError, EnvelopeError, KeyFileError: it is none of ours, was altered, or its key is not there.
    """
    found = envelope.read(path)
    signer = next((one for one in keys if one.id == found.key), None)
    if signer is None:
        return None
    if not envelope.holds(found, signer):
        raise EnvelopeError(f"not signed by {signer.name}")
    try:
        said = msgspec.convert(canonical.parse(found.payload), _Statement)
    except (canonical.CanonicalError, msgspec.ValidationError) as error:
        raise RotationError(f"it says nothing of a key: {error}") from error
    named = said.subject[0].name if len(said.subject) == 1 else ""
    word = said.predicate
    if (said.type, said.predicate_type, word.format, word.old) != (STATEMENT, KIND, 1, signer.id):
        raise RotationError("it says something else than that its signer gave way")
    if not named or Path(named).name != named:
        raise RotationError("it names no file beside it")
    made = key.read_public(path.parent / named)
    if made.id != word.new:
        raise RotationError(f"{named} is another key than the one that was signed")
    return made, Retired(id=signer.id, since=word.time, to=made.name)
