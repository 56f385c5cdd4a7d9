"""The only way in which readers get the facts of a sealed run: the record with its corrections folded in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Vocabulary
from affidavit.fact.values import Table
from affidavit.record import chain, manifest, seal
from affidavit.record.annotation import VALUES, Annotation, Extent, by_subject, present
from affidavit.record.record import Fact, Record

EVERYTHING = "everything"
"""What falls by a retraction, which is one because it leaves nothing out."""


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
    if sealed.recipe != recipe:
        return ()
    held = present(manifest.to_record(sealed))
    return tuple(said_of(one, held) for one in chain.read(folder))


def fold(record: Record, annotations: Sequence[Annotation]) -> Record:
    """Return the record in which every fact that fell is Unknown, and so is all that was derived from it.

    What it was stands beside it for those who show it.

    Without this each reader would have to remember the corrections, and one would not.
    """
    fallen: dict[str, str] = {}
    for annotation in annotations:
        since = f"FALLS since #{annotation.seq}"
        for name in annotation.falls:
            fallen.setdefault(name, f"{since}: {annotation.reason}")
            for derived in record.vocabulary.derived(name):
                fallen.setdefault(derived, f"{since} with {name}: {annotation.reason}")
    held = present(record)
    said = (said_of(annotation, held) for annotation in annotations)
    return replace(record, facts=tuple(_folded(fact, fallen) for fact in record.facts), notes=(*record.notes, *said))


def _folded(fact: Fact, fallen: Mapping[str, str]) -> Fact:
    if fact.name in fallen:
        return replace(fact, state=Unknown(Cause.FALLS, fallen[fact.name]), request=None, was=fact.state)
    if fact.name == VALUES and isinstance(fact.state, Known) and isinstance(fact.state.value, Table):
        columns = fact.state.value.columns
        if len(columns) > 1 and not fallen.keys().isdisjoint(map(str, fact.state.value.column(columns[0]))):
            rows = tuple((key, _marked(fallen, key, value), *more) for key, value, *more in fact.state.value.rows)
            return replace(fact, state=replace(fact.state, value=Table(columns, rows)))
    return fact


def _marked(fallen: Mapping[str, str], key: object, value: object) -> str:
    """Return what a foreign file says under a key, behind the words that fell it."""
    since = fallen.get(str(key), "")
    return f"{since} (was: {value})" if since and value != "" else since or str(value)


def said_of(annotation: Annotation, held: Iterable[str]) -> str:
    """Return a correction as one sentence: its kind, who and when, why, and what falls, survives, was not reviewed.

    Args:
        held: the terms of the record, so that a subject all of which falls is named once.
    """
    held = tuple(held)
    falls = (EVERYTHING,) if annotation.kind is Extent.RETRACTION else annotation.falls
    parts = (("falls", falls), ("survives", annotation.survives), ("not reviewed", annotation.not_reviewed))
    named = "; ".join(f"{what}: {', '.join(by_subject(terms, held))}" for what, terms in parts if terms)
    who = f"{annotation.author}, {annotation.time.date().isoformat()}"
    by = f", by {annotation.by}" if annotation.by else ""
    return f"{annotation.kind.value} #{annotation.seq}{by} ({who}): {annotation.reason} ({named})"
