"""What can fall in a file that is no run of ours: its keys, its sections, its claims, each by a name.

A correction that can only say "the file" casts doubt on all of it. So whatever a person would point at has a name:
``README.md:learning_rate`` in a card or a config, ``section:6`` in a document, ``claim:encode-cache-rebuild``.

Blind to: sections that are told apart by their looks only; what stands in a pickle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from affidavit.claims import banner
from affidavit.claims.anchor.markdown import places
from affidavit.fact.errors import AffidavitError
from affidavit.fact.term import Vocabulary
from affidavit.observe.foreign import read_foreign, shown
from affidavit.record import annotated, file
from affidavit.record.annotation import Annotation, Correction
from affidavit.run.attesting import Notary

DOCUMENTS = (".md", ".markdown", ".mdx", ".rst", ".txt")
SIZE_BYTES = 16 << 20
_LONGEST = 60


def content_of(path: Path) -> bytes | None:
    """Return what a document is without the banners of its corrections, None where it has none.

    A document goes by the digest of what people wrote, so that its own banner does not part it from its corrections.
    """
    if path.suffix.lower() not in DOCUMENTS or not path.is_file():
        return None
    try:
        text = read_document(path)
    except AffidavitError:
        return None
    bare = banner.without(text)
    return None if bare == text else bare.encode("utf-8", "surrogateescape")


def spoken_of(path: Path, root: Path) -> tuple[Path, ...]:
    """Return the chains that the banners of a document speak of, those of what it said before it was edited as well."""
    if path.suffix.lower() not in DOCUMENTS or not path.is_file():
        return ()
    told = {block[1] for block in banner.blocks(read_document(path))}
    return tuple(folder for folder in annotated.folders(root) if folder.name[:12] in told)


def read_document(path: Path) -> str:
    """Return the text of a document, line endings and odd bytes as they are."""
    return file.read(path.resolve(), limit=SIZE_BYTES).decode("utf-8", "surrogateescape")


def names_in(path: Path) -> Mapping[str, str]:
    """Return the names under which parts of a file, or of a folder's configs, can fall, each with what it says."""
    return {**_values(path), **_parts(path)}


def correct(
    path: Path, said: Correction, *, root: Path, vocabulary: Vocabulary, notary: Notary
) -> tuple[Path, Annotation, tuple[str, ...]]:
    """Append a correction to the chain of what lies at a path, and let it be signed and remembered as a run's.

    Returns:
        The folder of the chain, the annotation, and what of vouching could not be done.

    Raises:
        AffidavitError: as :func:`affidavit.record.annotated.annotate_artifact`.
    """
    content = content_of(path)
    is_new = annotated.chain_of(path, root, content) is None
    folder, made = annotated.annotate_artifact(
        path, said, root=root, vocabulary=vocabulary, holds=names_in(path), content=content
    )
    problems = notary.sealed(folder) if is_new else notary.corrected(folder)
    return folder, made, problems


def _values(path: Path) -> Mapping[str, str]:
    try:
        return {one.place: shown(one) for one in read_foreign(path).values}
    except AffidavitError:
        return {}  # a file that says nothing under keys has other names


def _parts(path: Path) -> Mapping[str, str]:
    """Return the sections and the claims of a document."""
    if path.suffix.lower() not in DOCUMENTS or not path.is_file():
        return {}
    try:
        text = read_document(path)
    except AffidavitError:
        return {}
    found: dict[str, str] = {}
    for heading in banner.headings(text):
        if heading.name:
            found.setdefault(heading.name, heading.title[:_LONGEST])
    for place in places(text):
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", place.claim):
            found.setdefault(f"claim:{place.claim}", "")
    return found
