"""What a signature says: an in-toto Statement about the bytes of a manifest, or of a head.

It names its subjects by digest and carries the document itself, so that whoever has the envelope alone can read what
was sworn, with tools that have never heard of us.

Source: in-toto Attestation Framework, Statement v1.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import Digest, ValueShapeError
from affidavit.record import canonical, seal
from affidavit.record.row import Part
from affidavit.record.seal import Head

STATEMENT = "https://in-toto.io/Statement/v1"
MANIFEST = "urn:affidavit:manifest:1"
HEAD = "urn:affidavit:head:1"


class StatementError(AffidavitError):
    """A payload is no statement of ours, or speaks of something else than what lies beside it."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A thing that a statement is about; whoever holds it can compare its digest."""

    name: str
    digest: Digest


class _Resource(Part, frozen=True, kw_only=True):
    name: str
    digest: dict[str, str]


class _Statement(Part, frozen=True, kw_only=True):
    type: str = msgspec.field(name="_type")
    subject: tuple[_Resource, ...]
    predicate_type: str = msgspec.field(name="predicateType")
    predicate: dict[str, object]


def of_manifest(raw: bytes) -> bytes:
    """Return the statement of a sealed manifest, as the bytes to sign."""
    document = canonical.parse(raw)
    return _statement(subjects(document, canonical.digest_bytes(raw)), MANIFEST, document)


def of_head(head: Head) -> bytes:
    """Return the statement of a head, as the bytes to sign."""
    raw = head.encode()
    subject = Subject(name=names.HEAD, digest=canonical.digest_bytes(raw))
    return _statement((subject,), HEAD, canonical.parse(raw))


def subjects(document: object, digest: Digest) -> tuple[Subject, ...]:
    """Return what the statement of a manifest is about: its own bytes, and files that the run made.

    Args:
        document: the manifest; today no fact holds the digest of a file that a run made.
    """
    return (Subject(name=names.MANIFEST, digest=digest),)


def check_manifest(payload: bytes, raw: bytes) -> None:
    """Return where a payload speaks of this manifest and of no other.

    Further subjects may stand beside it: a later version names what the run made.

    Raises:
        StatementError: what else it is or speaks of.
    """
    statement = _read(payload, MANIFEST)
    _about(statement, names.MANIFEST, canonical.digest_bytes(raw))
    if canonical.encode(statement.predicate) != raw:
        raise StatementError("its predicate is not the manifest that lies here")


def read_head(payload: bytes) -> Head:
    """Return the head that a payload speaks of.

    Raises:
        StatementError: what else it is or speaks of.
    """
    statement = _read(payload, HEAD)
    try:
        head = seal.to_head(statement.predicate)
    except ValueShapeError as error:
        raise StatementError(f"its predicate is no head: {error}") from error
    if head is None:
        raise StatementError("its predicate is no head")
    _about(statement, names.HEAD, canonical.digest_bytes(head.encode()))
    return head


def _statement(about: tuple[Subject, ...], kind: str, document: object) -> bytes:
    return canonical.encode(
        {
            "_type": STATEMENT,
            "subject": [{"name": one.name, "digest": {one.digest.algorithm: one.digest.hex}} for one in about],
            "predicateType": kind,
            "predicate": document,
        }
    )


def _read(payload: bytes, kind: str) -> _Statement:
    try:
        document = canonical.parse(payload)
        statement = msgspec.convert(document, _Statement)
        written = canonical.encode(document)
    except (canonical.CanonicalError, msgspec.ValidationError) as error:
        raise StatementError(f"its payload is no statement: {error}") from error
    if written != payload:
        raise StatementError("its payload is not written as we write it")
    if (statement.type, statement.predicate_type) != (STATEMENT, kind):
        raise StatementError(f"it is a {statement.type:.60} of {statement.predicate_type:.60}, not of {kind}")
    return statement


def _about(statement: _Statement, name: str, digest: Digest) -> None:
    named = [one.digest.get(digest.algorithm) for one in statement.subject if one.name == name]
    if named != [digest.hex]:
        raise StatementError(f"it speaks of {name} with {', '.join(map(str, named)) or 'no digest'}, not of {digest}")
