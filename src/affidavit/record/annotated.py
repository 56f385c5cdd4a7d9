"""Corrections to what is no run of ours: a card, a checkpoint, a document, each by the digest of its bytes.

The file itself is never touched. Its name, its size and the names that can fall in it are sealed once, as a foreign
record, in ``affidavit.corrections/DIGEST``, and the corrections follow there as a run's do. The folder lies beside
``affidavit.lock`` and is committed: a correction that only its author can read corrects nothing.

Blind to: a file that was changed in one byte since; it is another artifact, and nothing is said of it yet.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit import __version__
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Vocabulary
from affidavit.fact.values import Table
from affidavit.record import chain, file, manifest, seal
from affidavit.record.annotation import FILES, VALUES, Annotation, AnnotationError, Correction
from affidavit.record.manifest import Status, from_record
from affidavit.record.record import Fact, Kind, Record, ordered

PREFIX = "artifact-"
"""How the record of an artifact is called, before its digest."""
SIZE_BYTES = 1 << 42
MOST_FILES = MOST_NAMES = 1500


class ArtifactError(AffidavitError):
    """There is nothing at a path that a correction could be about."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file, or all files of a folder, as they lie there; ``parts`` are its files by name, digest and size."""

    path: Path
    sha256: str
    parts: tuple[tuple[str, str, int], ...]

    @property
    def bytes(self) -> int:
        return sum(size for _, _, size in self.parts)


def artifact(path: Path, content: bytes | None = None) -> Artifact:
    """Return what lies at a path, every byte of it digested.

    A folder is called by the SHA-256 of its list of digests and names, as ``sha256sum`` prints it; the one file of
    ours in it, ``affidavit.json``, is left out. Links in it are followed to files: a hub's cache is made of them.

    Args:
        content: what the file is without what a correction wrote into it; as it lies there by default.

    Raises:
        ArtifactError: nothing is there, a link or a pipe, or too many files.
    """
    if content is not None:
        digest = hashlib.sha256(content).hexdigest()
        return Artifact(path=path, sha256=digest, parts=((path.name, digest, len(content)),))
    try:
        if not path.is_dir():
            digest = file.sha256(path, limit=SIZE_BYTES)
            return Artifact(path=path, sha256=digest, parts=((path.name, digest, path.stat().st_size),))
        parts = tuple(
            (one.relative_to(path).as_posix(), file.sha256(one.resolve(), limit=SIZE_BYTES), one.stat().st_size)
            for one in _files(path)
        )
    except (file.FileShapeError, OSError) as error:
        raise ArtifactError(_nothing(path, str(error))) from error
    if not parts:
        raise ArtifactError(_nothing(path, "a folder without files"))
    listed = "".join(f"{digest}  {name}\n" for name, digest, _ in parts)
    return Artifact(path=path, sha256=hashlib.sha256(os.fsencode(listed)).hexdigest(), parts=parts)


def annotate_artifact(
    path: Path,
    said: Correction,
    *,
    root: Path,
    vocabulary: Vocabulary,
    holds: Mapping[str, str] | Iterable[str] = (),
    content: bytes | None = None,
) -> tuple[Path, Annotation]:
    """Append a correction to the chain of an artifact; return the folder of that chain, and the annotation.

    Args:
        root: the project, which keeps the chain.
        holds: the names that can fall in it, beside those of its files (sections, claims, keys); as a mapping, with
            what each says.
        content: as in :func:`artifact`. A document that carries banners is called by what it is without them.

    Raises:
        ArtifactError: nothing is there.
        AnnotationError, ChainError, SealError: as for a run.
        OSError: the folder cannot be written.
    """
    found = artifact(path, content)
    folder = root / names.CORRECTIONS / found.sha256
    is_new = not seal.is_sealed(folder)
    if is_new:
        folder.mkdir(parents=True, exist_ok=True)
        held = dict(holds) if isinstance(holds, Mapping) else dict.fromkeys(holds, "")
        record = _record(found, held, root=root, vocabulary=vocabulary)
        seal.seal(folder, from_record(record, affidavit=__version__, status=Status.ADOPTED, attempts=()))
    refuse_another(folder)
    try:
        return folder, chain.append(folder, said, called=str(path))
    except AnnotationError:
        if is_new and not (folder / names.ANNOTATIONS).exists():
            shutil.rmtree(folder)  # nothing was said of it, so there is nothing to keep
        raise


def chain_of(path: Path, root: Path, content: bytes | None = None) -> Path | None:
    """Return the folder of the corrections of what lies at a path, or None where nothing was ever said of it.

    What is large is read only where something was said of that many bytes, or of nobody knows how many.

    Raises:
        ArtifactError: nothing is there, or the chain that lies there is another's.
    """
    held = tuple(folders(root))
    if not held:
        return None
    sizes = {_size(one) for one in held}
    if content is None and None not in sizes and _size_at(path) not in sizes:
        return None
    folder = root / names.CORRECTIONS / artifact(path, content).sha256
    if folder not in held:
        return None
    refuse_another(folder)
    return folder


def is_chain(folder: Path) -> bool:
    """Say whether a folder holds what was said of an artifact, and is no run's."""
    return folder.parent.name == names.CORRECTIONS


def folders(root: Path) -> Iterator[Path]:
    """Yield the folders of all artifacts of which something was said in a project."""
    place = root / names.CORRECTIONS
    if place.is_dir() and not place.is_symlink():
        yield from (folder for folder in sorted(place.iterdir()) if seal.is_sealed(folder))


def _size(folder: Path) -> int | None:
    """Return of how many bytes something was said, or None where what was sealed cannot be read."""
    try:
        facts = manifest.to_record(seal.read_sealed(folder).manifest).facts
    except AffidavitError:
        return None
    tables = (fact.state.value for fact in facts if fact.name == FILES and isinstance(fact.state, Known))
    return sum(int(row["bytes"]) for table in tables if isinstance(table, Table) for row in table.records(bytes=int))


def _size_at(path: Path) -> int:
    try:
        return sum(one.stat().st_size for one in (_files(path) if path.is_dir() else [path]))
    except (file.FileShapeError, OSError) as error:
        raise ArtifactError(_nothing(path, str(error))) from error


def refuse_another(folder: Path) -> None:
    """Refuse a chain that lies under the digest of something else: a copy would correct what nobody spoke of.

    Raises:
        ArtifactError: it does.
    """
    try:
        run = seal.read_sealed(folder).manifest.run
    except AffidavitError:
        return  # whoever reads it is told, and "verify" says what is wrong
    if run != f"{PREFIX}{folder.name}":
        raise ArtifactError(
            refusal(
                subject=f"{names.CORRECTIONS}/{folder.name:.12}…",
                expected="the corrections of what has this digest",
                saw=f"those of {run:.21}…",
                means="Somebody copied them, and nothing was said of this artifact.",
                action="Restore the folder from a commit.",
                unaffected="the artifact",
            )
        )


def _record(found: Artifact, holds: Mapping[str, str], *, root: Path, vocabulary: Vocabulary) -> Record:
    """Return what is sealed of an artifact: its files, and every name under which a part of it can fall."""
    place = found.path.resolve()
    shown = place.relative_to(root.resolve()).as_posix() if place.is_relative_to(root.resolve()) else place.name
    files = tuple((name, f"sha256:{digest}", size, "named by a correction") for name, digest, size in found.parts)
    values = tuple({**{name: "" for name, _, _ in found.parts}, **holds}.items())[:MOST_NAMES]
    tables = {
        FILES: (Table(("path", "digest", "bytes", "read"), files), Method.INSPECTED),
        VALUES: (Table(("key", "value"), values), Method.DECLARED),
    }
    return Record(
        kind=Kind.FOREIGN,
        subject=f"{PREFIX}{found.sha256}",
        facts=ordered(Fact(name=name, state=Known(value, how, shown)) for name, (value, how) in tables.items()),
        vocabulary=vocabulary,
        notes=(f"an artifact, named by its digest: {shown}",),
    )


def _files(folder: Path) -> list[Path]:
    found = [one for one in sorted(folder.rglob("*")) if one.is_file() and one.name != names.MARK]
    found = [one for one in found if ".git" not in one.relative_to(folder).parts]
    if len(found) > MOST_FILES:
        raise file.FileShapeError(f"{len(found):,} files, {MOST_FILES:,} allowed")
    return found


def _nothing(path: Path, saw: str) -> str:
    return refusal(
        subject=f'"{path}"',
        expected="a file, or a folder of files",
        saw=saw,
        means="A correction is bound to bytes, and here are none.",
        action='Name a run ("affidavit ls"), a file or a folder.',
        unaffected="everything that is there",
    )
