"""What a signature says: an in-toto Statement about the bytes of a manifest, or of a head.

It names its subjects by digest and carries the document itself, so that whoever has the envelope alone can read what
was sworn, with tools that have never heard of us.

Source: in-toto Attestation Framework, Statement v1.
"""

from __future__ import annotations

import msgspec

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import ValueShapeError
from affidavit.record import artifact, canonical, manifest, seal
from affidavit.record.artifact import Subject
from affidavit.record.row import Part
from affidavit.record.seal import Head

STATEMENT = "https://in-toto.io/Statement/v1"
MANIFEST = "urn:affidavit:manifest:1"
HEAD = "urn:affidavit:head:1"


class StatementError(AffidavitError):
    """A payload is no statement of ours, or speaks of something else than what lies beside it."""


class _Resource(Part, frozen=True, kw_only=True):
    name: str
    digest: dict[str, str]


class _Statement(Part, frozen=True, kw_only=True):
    type: str = msgspec.field(name="_type")
    subject: tuple[_Resource, ...]
    predicate_type: str = msgspec.field(name="predicateType")
    predicate: dict[str, object]


def of_manifest(raw: bytes) -> bytes:
    """Return the statement of a sealed manifest, as the bytes to sign.

    It is about the manifest first, and then about each file that the run wrote and of which every byte was digested.

    Raises:
        ManifestError: the bytes are no manifest.
    """
    written = artifact.subjects(manifest.to_record(manifest.decode(raw)))
    subjects = (_manifest(raw), *written)
    return _statement(subjects, MANIFEST, canonical.parse(raw))


def of_head(head: Head) -> bytes:
    """Return the statement of a head, as the bytes to sign."""
    return _statement((_head(head),), HEAD, canonical.parse(head.encode()))


def check_manifest(payload: bytes, raw: bytes) -> None:
    """Return where a payload speaks of this manifest and of no other.

    Further subjects may stand after it: the files that the run wrote.

    Raises:
        StatementError: what else it is or speaks of.
    """
    statement = _read(payload, MANIFEST)
    _about(statement, _manifest(raw))
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
    _about(statement, _head(head))
    return head


def _manifest(raw: bytes) -> Subject:
    return Subject(name=names.MANIFEST, sha256=canonical.digest_bytes(raw).hex)


def _head(head: Head) -> Subject:
    return Subject(name=names.HEAD, sha256=canonical.digest_bytes(head.encode()).hex)


def _statement(about: tuple[Subject, ...], kind: str, document: object) -> bytes:
    return canonical.encode(
        {
            "_type": STATEMENT,
            "subject": [{"name": one.name, "digest": {"sha256": one.sha256}} for one in about],
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


def _about(statement: _Statement, subject: Subject) -> None:
    """Compare the first subject; what a run wrote may bear any name, this one too."""
    first = statement.subject[:1]
    if [(one.name, one.digest.get("sha256")) for one in first] != [(subject.name, subject.sha256)]:
        saw = (
            "; ".join(f"{one.name:.60} with {one.digest.get('sha256', 'no digest'):.80}" for one in first) or "nothing"
        )
        raise StatementError(f"it speaks of {saw}, not of {subject.name} with {subject.sha256}")
