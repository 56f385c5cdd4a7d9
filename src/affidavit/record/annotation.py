"""One correction: what of a record falls, what survives, and, computed and never typed, what nobody looked at.

A correction that names only what is wrong casts doubt on every field it omits (landmine 4.4).

Source: anchors-provenance §11.3; inspect_ai log/_edit.py (theirs makes the reason optional and names no survivors).
"""

from __future__ import annotations

import datetime
import difflib
import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import Vocabulary
from affidavit.fact.values import Table
from affidavit.record import canonical
from affidavit.record.manifest import Instant
from affidavit.record.record import Record
from affidavit.record.row import Part

FILES, VALUES = "foreign.files", "foreign.values"
"""The terms under which a record holds foreign files and what they say: each key can fall by its own name."""


class AnnotationError(AffidavitError):
    """An annotation says nothing, contradicts itself, or speaks of a term that the record does not have."""


class Extent(enum.Enum):
    """How much of a record an annotation fells; it follows from ``falls``.

    A person chooses only between two words for a part that falls, and names what takes the record's place.
    """

    NOTE = "note"
    ERRATUM = "erratum"
    PARTIAL = "partial retraction"
    RETRACTION = "retraction"
    SUPERSEDES = "supersedes"


class Annotation(Part, frozen=True, kw_only=True):
    """One correction.

    Args:
        seq: counted from 1.
        prev: digest of the line before, or of the manifest.
        about: digest of the manifest.
        falls: terms that no reader may use any longer; what is derived from them falls with them.
        survives: terms that were looked at and stand.
        not_reviewed: everything else the record holds, whole subjects as ``subject.*``; computed.
        by: the run or the artifact that takes its place, where one does.
    """

    seq: int
    prev: str
    about: str
    kind: Extent
    falls: tuple[str, ...]
    survives: tuple[str, ...]
    not_reviewed: tuple[str, ...]
    reason: str
    author: str
    time: Instant
    by: str = ""

    def encode(self) -> bytes:
        document = msgspec.to_builtins(self)
        if not self.by:
            del document["by"]  # lines of before there was one keep their digest
        return canonical.encode(canonical.legible(document))


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What a person says of a record.

    Args:
        falls, survives: names of terms, or patterns such as ``tokens.*``.
        kind: ERRATUM or PARTIAL where a part falls; it follows from ``falls`` where it is None.
        by: what takes the record's place; the correction is SUPERSEDES then.
        nothing_else: whether the person says that they looked at nothing else; None where nobody was asked.
        time: with its zone; now by default.
    """

    falls: tuple[str, ...] = ()
    survives: tuple[str, ...] = ()
    reason: str = ""
    author: str = ""
    kind: Extent | None = None
    by: str = ""
    nothing_else: bool | None = None
    time: datetime.datetime | None = None


def present(record: Record) -> tuple[str, ...]:
    """Return the names by which a part of a record can fall: its terms, and the keys of what it was adopted from."""
    own, foreign = {fact.name for fact in record.facts}, keys(record)
    return tuple(sorted(own.difference((FILES, VALUES)).union(foreign) if foreign else own))


def keys(record: Record) -> tuple[str, ...]:
    """Return the keys of the foreign files that a record was made of, as its table names them."""
    for fact in record.facts:
        if fact.name == VALUES and isinstance(fact.state, Known) and isinstance(fact.state.value, Table):
            return tuple(str(row[0]) for row in fact.state.value.rows)
    return ()


def compose(
    said: Correction, record: Record, before: Sequence[Annotation], *, prev: str, about: str
) -> tuple[Annotation, list[str]]:
    """Return the annotation that a correction becomes, and everything that keeps it from being one."""
    held = present(record)
    complaints: list[str] = []
    falling = named(said.falls, held, complaints)
    standing = named(said.survives, held, complaints)
    fallen = closure({name for earlier in before for name in earlier.falls}, record.vocabulary)
    gone = closure(falling, record.vocabulary)
    left = set(held) - gone - fallen - set(standing)
    complaints += _contradictions(falling, gone, fallen, standing)
    complaints += [
        f"it has no {what}" for what, text in (("reason", said.reason), ("author", said.author)) if not text.strip()
    ]
    complaints += _unasked(said, falling=falling, standing=standing, left=left)
    follows = Extent.NOTE if not falling else Extent.RETRACTION if gone >= set(held) else Extent.ERRATUM
    kind = Extent.SUPERSEDES if said.by.strip() else said.kind or follows
    complaints += _other_extent(said.kind or kind, follows, by=said.by)
    annotation = Annotation(
        seq=len(before) + 1,
        prev=prev,
        about=about,
        kind=kind,
        falls=falling,
        survives=standing,
        not_reviewed=by_subject(left, held),
        reason=said.reason.strip(),
        author=said.author.strip(),
        time=said.time or datetime.datetime.now(datetime.UTC),
        by=said.by.strip(),
    )
    return annotation, complaints


def closure(falls: Iterable[str], vocabulary: Vocabulary) -> set[str]:
    """Return the terms that fall when these do: themselves, and all that was derived from them."""
    return {found for name in falls for found in (name, *vocabulary.derived(name))}


def named(patterns: Sequence[str], held: Sequence[str], complaints: list[str]) -> tuple[str, ...]:
    """Return the names that these are or match; of one that matches none, a complaint."""
    found: set[str] = set()
    for pattern in patterns:
        matched = [pattern] if pattern in held else [name for name in held if fnmatchcase(name, pattern)]
        if not matched:
            near = difflib.get_close_matches(pattern, held, 1)
            hint = f'; did you mean "{near[0]}"' if near else ""
            complaints.append(f'the record holds nothing named "{pattern}"{hint}')
        found.update(matched)
    return tuple(sorted(found))


def by_subject(some: Iterable[str], held: Iterable[str]) -> tuple[str, ...]:
    """Return names of terms, ``subject.*`` for a subject of which several are held and all are named."""
    left = set(some)
    subjects: dict[str, set[str]] = {}
    for name in held:
        subjects.setdefault(name.partition(".")[0], set()).add(name)
    found: set[str] = set()
    for name in left:
        subject = name.partition(".")[0]
        whole = {other for other in subjects.get(subject, ()) if other.startswith(f"{subject}.")}
        found.add(f"{subject}.*" if len(whole) > 1 and name in whole and whole <= left else name)
    return tuple(sorted(found))


def _contradictions(falling: Iterable[str], gone: set[str], fallen: set[str], standing: Iterable[str]) -> Iterator[str]:
    for name in standing:
        if name in falling:
            yield f"{name} both falls and survives"
        elif name in gone:
            yield f"{name} is derived from what falls, so it falls too"
        elif name in fallen:
            yield f"{name} fell with an earlier correction, and nothing raises it again"


def _unasked(said: Correction, *, falling: Sequence[str], standing: Sequence[str], left: set[str]) -> Iterator[str]:
    """Complain of a correction that leaves open whether anything else was looked at."""
    if said.nothing_else is None:
        return
    if said.nothing_else and said.survives:
        yield "it names what survives, and says that nothing else was looked at"
    elif falling and left and not said.survives and not said.nothing_else:
        yield "nothing is named that survives; name what you looked at, or say --reviewed-nothing-else"


def _other_extent(kind: Extent, follows: Extent, *, by: str) -> Iterator[str]:
    """Complain of a word that says more, or less, than what falls."""
    if kind is Extent.SUPERSEDES:
        if not by.strip():
            yield "it supersedes, and does not say what takes the record's place"
    elif by.strip():
        yield f"its kind is {kind.value}, and it says what takes the record's place, as one that supersedes does"
    elif kind is not follows and {kind, follows} != {Extent.ERRATUM, Extent.PARTIAL}:
        fells = {Extent.NOTE: "nothing", Extent.RETRACTION: "all of it"}.get(follows, "a part")
        yield f"its kind is {kind.value}, and {fells} falls"
