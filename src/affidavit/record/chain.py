"""The corrections to a sealed record: appended and chained, each line with the digest of the one before it.

The first carries the manifest's. What a correction may say is in :mod:`affidavit.record.annotation`.

Source: anchors-provenance §11.3.
Blind to: a chain and a head that were rewritten together; only a witness outside this folder shows that.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.values import Digest
from affidavit.record import canonical, file, manifest, seal
from affidavit.record.annotation import Annotation, AnnotationError, Correction, compose, present
from affidavit.record.seal import Head, Sealed

CHAIN_BYTES = 1 << 24
_NAMED = 12


class ChainError(AffidavitError):
    """The chain of annotations was edited, reordered or cut, or belongs to another record."""


def annotate(
    folder: Path,
    *,
    falls: Iterable[str] = (),
    survives: Iterable[str] = (),
    reason: str,
    author: str,
    time: datetime.datetime | None = None,
) -> Annotation:
    """Append a correction to a sealed run, and return it.

    Args:
        falls, survives: names of terms, or patterns such as ``tokens.*``.
        time: with its zone; now by default.

    Raises:
        AnnotationError: with every complaint: no reason, no author, a name the record does not have, a term that both
            falls and survives, or survives what it is derived from, or survives an earlier correction that felled it.
        ChainError: the chain that is there does not hold.
        SealError: the run is not sealed, or not by what lies there.
    """
    said = Correction(falls=tuple(falls), survives=tuple(survives), reason=reason, author=author, time=time)
    return append(folder, said)


def append(folder: Path, said: Correction, *, called: str = "") -> Annotation:
    """Append a correction to whatever is sealed in a folder, and return it; raises as :func:`annotate` does.

    Args:
        called: what a person calls it where it is no run; a refusal then names the parts that it has.
    """
    with file.alone(folder):
        sealed = seal.read_sealed(folder)  # not before: until we are alone, a later attempt may be sealed
        record = manifest.to_record(sealed.manifest)
        before = read(folder)
        prev = str(_last(sealed, before))
        annotation, complaints = compose(said, record, before, prev=prev, about=str(sealed.digest))
        if complaints:
            raise AnnotationError(_refused(called or folder.name, complaints, present(record) if called else ()))
        _append(folder, sealed, before, annotation)
        if annotation not in read(folder):
            raise ChainError(
                f"annotation of {folder.name}: another writer replaced it while it was written; try again."
            )
    return annotation


def read(folder: Path) -> tuple[Annotation, ...]:
    """Return the annotations of a sealed run, in order.

    One that the head does not name yet is read too: it may be an append that did not finish, and it can only take
    trust away.

    Raises:
        ChainError: the chain does not hold.
        SealError: the run is not sealed, or not by what lies there.
    """
    walked = walk(folder)
    if walked.problems:
        raise ChainError(
            refusal(
                subject=f"annotations of {folder.name}",
                expected="the chain that was written",
                saw="; ".join(walked.problems),
                means="Nobody can say which facts of this run still stand.",
                action=f"Restore {names.ANNOTATIONS} and {names.HEAD} from a copy.",
                unaffected="manifest.json, whose own digest still agrees",
            )
        )
    return walked.annotations


def verify_chain(folder: Path) -> tuple[str, ...]:
    """Return everything that is wrong with the seal and the chain of a run folder; nothing where all of it holds."""
    try:
        walked = walk(folder)
    except AffidavitError as error:
        return (str(error),)
    return (*walked.problems, *walked.surplus)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The chain as it lies there: ``problems`` break it, ``surplus`` is what the head does not name yet.

    ``links`` are the digests that a head may name as the last: the manifest's, then one for each annotation.
    """

    links: tuple[Digest, ...]
    annotations: tuple[Annotation, ...]
    problems: tuple[str, ...]
    surplus: tuple[str, ...]


def walk(folder: Path) -> Walk:
    """Return the chain of a sealed run with whatever is wrong with it; raises as :func:`read` does."""
    sealed = seal.read_sealed(folder)
    path = folder / names.ANNOTATIONS
    raw = b""
    if os.path.lexists(path):
        try:
            raw = file.read(path, limit=CHAIN_BYTES)
        except file.FileShapeError as error:
            raise ChainError(f"{path}: expected a plain file, saw {error}.") from error
    lines = raw.split(b"\n")
    problems = [] if lines.pop() == b"" else ["the last line is torn"]
    annotations: list[Annotation] = []
    expected = str(sealed.digest)
    for number, line in enumerate(lines, 1):
        try:
            annotation = msgspec.convert(canonical.parse(line), Annotation)
        except (canonical.CanonicalError, msgspec.ValidationError) as error:
            problems.append(f"#{number} is no annotation: {error}")
            break
        if (annotation.seq, annotation.prev, annotation.about) != (number, expected, str(sealed.digest)):
            problems.append(f"#{number} does not follow what stands before it")
        if annotation.encode() != line:
            problems.append(f"#{number} is not written as we write it")
        annotations.append(annotation)
        expected = str(canonical.digest_bytes(line))
    return _against_head(sealed.head, lines, annotations, problems)


def _against_head(head: Head, lines: Sequence[bytes], annotations: list[Annotation], problems: list[str]) -> Walk:
    surplus: tuple[str, ...] = ()
    links = (head.manifest, *map(canonical.digest_bytes, lines))
    if len(lines) < head.count:
        problems.append(f"cut short: {names.HEAD} counts {head.count}, {len(lines)} are there")
    else:
        if links[head.count] != head.last:
            problems.append(f"#{head.count} is not the one that {names.HEAD} names")
        if len(lines) > head.count:
            surplus = (f"{names.HEAD} counts {head.count}, {len(lines)} are there: an append that did not finish",)
    return Walk(links=links, annotations=tuple(annotations), problems=tuple(problems), surplus=surplus)


def _last(sealed: Sealed, before: Sequence[Annotation]) -> Digest:
    return canonical.digest_bytes(before[-1].encode()) if before else sealed.digest


def _append(folder: Path, sealed: Sealed, before: Sequence[Annotation], annotation: Annotation) -> None:
    """Write the chain, then the head: a crash between the two leaves a correction that readers already heed."""
    lines = [one.encode() for one in (*before, annotation)]
    raw = b"".join(line + b"\n" for line in lines)
    if len(raw) > CHAIN_BYTES:  # no reader would open it again, and nobody could take that back
        raise AnnotationError(_refused(folder.name, [f"{len(raw):,} bytes with it, {CHAIN_BYTES:,} are read"]))
    file.replace(folder / names.ANNOTATIONS, raw)
    head = Head(manifest=sealed.digest, count=len(lines), last=canonical.digest_bytes(lines[-1]))
    file.replace(folder / names.HEAD, head.encode())


def _refused(called: str, complaints: Sequence[str], parts: Sequence[str] = ()) -> str:
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    has = f"It has {', '.join(parts[:_NAMED])}{more}."
    return refusal(
        subject=f"annotation of {called}",
        expected="a reason, an author, and terms of this record that either fall or survive",
        saw="; ".join(complaints),
        means="A correction that cannot be read one way casts doubt on everything.",
        action=has if parts else f'Run "affidavit show {called}" for the terms.',
        unaffected="the record, which stays as it was",
    )
