"""A run is sealed once, by anyone, and no second seal can take the place of the first.

The manifest is written whole, synced, and linked under its name; a link cannot replace what is there. ``head.json``
then holds the manifest's digest and the state of the annotation chain.

Source: anchors-provenance §4 and §11.3 (attack matrix, run).
Blind to: who rewrites manifest, chain and head together; only a witness outside this folder shows that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.values import Digest, ValueShapeError
from affidavit.record import canonical, file, manifest
from affidavit.record.manifest import Manifest

HEAD_FORMAT = 1


class SealError(AffidavitError):
    """A seal is missing, broken, or contradicts what it seals."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the folder says of itself: the manifest's digest, how many annotations follow, the digest of the last.

    ``last`` is the manifest's digest while there is no annotation.
    """

    manifest: Digest
    count: int
    last: Digest

    def encode(self) -> bytes:
        return canonical.encode(
            {"format": HEAD_FORMAT, "manifest": str(self.manifest), "count": self.count, "last": str(self.last)}
        )

    @property
    def shown(self) -> str:
        """As a witness tells what it saw."""
        corrections = "1 correction" if self.count == 1 else f"{self.count} corrections"
        return f"{self.manifest} with {corrections}" if self.count else str(self.manifest)


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A manifest whose bytes are those that were sealed, with its digest and the head."""

    manifest: Manifest
    digest: Digest
    head: Head


def is_sealed(folder: Path) -> bool:
    return (folder / names.MANIFEST).is_file() and (folder / names.HEAD).is_file()


def seal(folder: Path, document: Manifest) -> Digest:
    """Return the digest under which the run is sealed; a run that is sealed already keeps the seal it has.

    Raises:
        ManifestError: the manifest is larger than it may be.
        SealError: annotations are there and the head that names them is not.
        OSError: the folder cannot be written.
    """
    raw = manifest.encode(document)
    if not file.place_once(folder / names.MANIFEST, raw):
        raw = _bytes(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
    digest = canonical.digest_bytes(raw)
    if not (folder / names.HEAD).exists():
        if (folder / names.ANNOTATIONS).exists():
            raise _broken(folder, f"{names.HEAD} beside {names.ANNOTATIONS}", "annotations without a head")
        file.place_once(folder / names.HEAD, Head(manifest=digest, count=0, last=digest).encode())
    return digest


def read_sealed(folder: Path) -> Sealed:
    """Return a sealed manifest; its facts reach readers through :mod:`affidavit.record.fold` only.

    Raises:
        SealError: not sealed, a link in place of a file, or bytes that are not those that were sealed.
        ManifestError: bytes that are no manifest.
    """
    raw = _bytes(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
    head = read_head(folder)
    digest = canonical.digest_bytes(raw)
    if digest != head.manifest:
        raise _broken(folder, f"{names.MANIFEST} with {head.manifest} ({names.HEAD})", str(digest))
    return Sealed(manifest=manifest.decode(raw, source=str(folder / names.MANIFEST)), digest=digest, head=head)


def read_head(folder: Path) -> Head:
    """Return the head.

    Raises:
        SealError: missing, of a newer format, or no head at all.
    """
    raw = _bytes(folder / names.HEAD, limit=4096)
    expected = f"a {names.HEAD} of format {HEAD_FORMAT}"
    try:
        head = to_head(canonical.parse(raw))
    except (canonical.CanonicalError, ValueShapeError) as error:
        raise _broken(folder, expected, str(error)) from error
    if head is None or head.encode() != raw:
        raise _broken(folder, expected, f"{raw!r:.120}")
    return head


def to_head(document: object) -> Head | None:
    """Return the head that a document is, or None where it is none.

    Raises:
        ValueShapeError: a digest in it is none.
    """
    match document:
        case {"format": 1, "manifest": str(sealed), "count": int(count), "last": str(last), **rest} if not rest:
            if type(count) is int and count >= 0:  # a bool is an int, and a negative one counts from the end
                return Head(manifest=Digest.parse(sealed), count=count, last=Digest.parse(last))
    return None


def parse_head(raw: bytes) -> Head | None:
    """Return the head that a witness kept, or None where what it kept is none of ours."""
    try:
        return to_head(canonical.parse(raw))
    except (canonical.CanonicalError, ValueShapeError):
        return None


def _bytes(path: Path, *, limit: int) -> bytes:
    try:
        return file.read(path, limit=limit)
    except file.FileShapeError as error:
        raise _broken(path.parent, f"a plain file {path.name}", str(error)) from error


def _broken(folder: Path, expected: str, saw: str) -> SealError:
    return SealError(
        refusal(
            subject=f"seal of {folder.name}",
            expected=expected,
            saw=saw,
            means="This run's record is not the one that was sealed, or was never sealed.",
            action='Run "affidavit ls", which seals what is over, or restore the folder from a copy.',
            unaffected="the run's checkpoints, and its journals where they are still there",
        )
    )
