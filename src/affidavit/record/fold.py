"""The only way in which readers get the facts of a sealed run: the record with its corrections folded in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.term import Vocabulary
from affidavit.record import chain, manifest, seal
from affidavit.record.chain import Annotation
from affidavit.record.record import Record


def read_record(folder: Path, vocabulary: Vocabulary | None = None) -> Record:
    """Return the folded record of a sealed run.

    Raises:
        SealError, ManifestError, ChainError: what lies there is not what was sealed, or cannot be read.
    """
    sealed = seal.read_sealed(folder)
    return fold(manifest.to_record(sealed.manifest, vocabulary), chain.read(folder))


def fold(record: Record, annotations: Sequence[Annotation]) -> Record:
    """Return the record in which every fact that fell is Unknown, and so is all that was derived from it.

    Without this each reader would have to remember the corrections, and one would not.
    """
    fallen: dict[str, str] = {}
    for annotation in annotations:
        since = f"falls since #{annotation.seq}"
        for name in annotation.falls:
            fallen.setdefault(name, f"{since}: {annotation.reason}")
            for derived in record.vocabulary.derived(name):
                fallen.setdefault(derived, f"{since} with {name}: {annotation.reason}")
    facts = tuple(
        replace(fact, state=Unknown(Cause.FALLS, fallen[fact.name]), request=None) if fact.name in fallen else fact
        for fact in record.facts
    )
    return replace(record, facts=facts, notes=(*record.notes, *map(_said, annotations)))


def _said(annotation: Annotation) -> str:
    parts = (("falls", annotation.falls), ("survives", annotation.survives), ("not reviewed", annotation.not_reviewed))
    named = "; ".join(f"{what}: {', '.join(terms)}" for what, terms in parts if terms)
    who = f"{annotation.author}, {annotation.time.date().isoformat()}"
    return f"{annotation.kind.value} #{annotation.seq} ({who}): {annotation.reason} ({named})"
