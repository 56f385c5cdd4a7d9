"""A signature and what it signs in one file: DSSE, written by securesystemslib and read strictly.

The library accepts two alphabets of base64 and any further key; each is a second file with the same signature. So an
envelope is read only where it is, byte for byte, the one that we would write.

Source: DSSE 1.0 (pre-authentication encoding: the payload's type and length are signed with it); securesystemslib.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.fact.errors import AffidavitError
from affidavit.record import canonical, file
from affidavit.record.key import PrivateKey, PublicKey, needing_the_extra
from affidavit.record.row import Part

MEDIA = "application/vnd.in-toto+json"
SIZE_BYTES = 1 << 22
"""A manifest of the largest size, the files it names a second time, and a third more for base64."""


class EnvelopeError(AffidavitError):
    """A file is no envelope of ours."""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """What was signed, by which key, and the signature; nothing is known yet of whether it holds."""

    payload: bytes
    key: str
    signature: bytes


class _Signature(Part, frozen=True, kw_only=True):
    keyid: str
    sig: str


class _Envelope(Part, frozen=True, kw_only=True):
    payload: str
    payload_type: str = msgspec.field(name="payloadType")
    signatures: tuple[_Signature, ...]


def sign(payload: bytes, key: PrivateKey) -> bytes:
    """Return the bytes of an envelope around a payload, with one signature.

    Raises:
        SigningUnavailableError: the extra is not installed.
    """
    with needing_the_extra():
        from securesystemslib.dsse import Envelope as Signed

    signed = Signed(payload, MEDIA, {})
    signed.sign(key.signer())
    return canonical.encode(signed.to_dict())


def read(path: Path) -> Envelope:
    """Return the envelope that a file holds.

    Raises:
        EnvelopeError: no plain file, too large, another type of payload, no or several signatures, or any other bytes
            than those we would write.
    """
    try:
        raw = file.read(path, limit=SIZE_BYTES)
        found = msgspec.convert(canonical.parse(raw), _Envelope)
        if found.payload_type != MEDIA:
            raise EnvelopeError(f"its payload is {found.payload_type!r:.80}, not {MEDIA}")
        if len(found.signatures) != 1:
            raise EnvelopeError(f"it has {len(found.signatures)} signatures, one is written")
        (signature,) = found.signatures
        envelope = Envelope(
            payload=base64.b64decode(found.payload, validate=True),
            key=signature.keyid,
            signature=base64.b64decode(signature.sig, validate=True),
        )
    except (file.FileShapeError, canonical.CanonicalError, msgspec.ValidationError) as error:
        raise EnvelopeError(str(error)) from error
    except (binascii.Error, ValueError) as error:
        raise EnvelopeError(f"it is no base64: {error}") from error
    if _written(envelope) != raw:
        raise EnvelopeError("it is not written as we write it")
    return envelope


def holds(envelope: Envelope, key: PublicKey) -> bool:
    """Say whether this key made the signature, over this payload and its type.

    Raises:
        SigningUnavailableError: the extra is not installed.
    """
    with needing_the_extra():
        from securesystemslib.dsse import Envelope as Signed
        from securesystemslib.exceptions import VerificationError
        from securesystemslib.signer import Signature  # type: ignore[attr-defined]

    signed = Signed(envelope.payload, MEDIA, {key.id: Signature(key.id, envelope.signature.hex())})
    try:
        signed.verify([key.handle()], 1)
    except VerificationError:
        return False
    return envelope.key == key.id


def _written(envelope: Envelope) -> bytes:
    return canonical.encode(
        {
            "payload": base64.b64encode(envelope.payload).decode(),
            "payloadType": MEDIA,
            "signatures": [{"keyid": envelope.key, "sig": base64.b64encode(envelope.signature).decode()}],
        }
    )
