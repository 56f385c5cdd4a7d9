"""The only way in which readers get the facts of a sealed run: the record with its corrections folded in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from affidavit.fact import folder as names
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


def corrections(folder: Path, recipe: str) -> tuple[str, ...]:
    """Return what was said later of a sealed run of a recipe, a sentence a correction; nothing of any other run."""
    if not (folder / names.ANNOTATIONS).exists():
        return ()
    sealed = seal.read_sealed(folder).manifest
    present = {fact.name for fact in sealed.facts}
    return tuple(said_of(one, present) for one in chain.read(folder)) if sealed.recipe == recipe else ()


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
    present = {fact.name for fact in record.facts}
    said = (said_of(annotation, present) for annotation in annotations)
    return replace(record, facts=facts, notes=(*record.notes, *said))


def said_of(annotation: Annotation, present: Iterable[str]) -> str:
    """Return a correction as one sentence: its kind, who and when, why, and what falls, survives, was not reviewed.

    Args:
        present: the terms of the record, so that a subject all of which falls is named once.
    """
    held = tuple(present)
    parts = (("falls", annotation.falls), ("survives", annotation.survives), ("not reviewed", annotation.not_reviewed))
    named = "; ".join(f"{what}: {', '.join(chain.by_subject(terms, held))}" for what, terms in parts if terms)
    who = f"{annotation.author}, {annotation.time.date().isoformat()}"
    return f"{annotation.kind.value} #{annotation.seq} ({who}): {annotation.reason} ({named})"
