"""A record of what somebody else wrote down: sealed as it was found, each value by its file's word.

Nothing of it was seen by us, so nothing of it satisfies a check. It can be shown, compared and corrected like a run:
a published model card whose numbers do not hold is retracted in the same way as a run whose panel does not.

Source: DESIGN §8 (adopt).
Blind to: whether any of it is true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import affidavit
from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, Scope, Vocabulary
from affidavit.fact.values import Table, Value
from affidavit.observe.foreign import MOST_VALUES, READ, Foreign, read_foreign, shown
from affidavit.observe.meaning import Declared, declared
from affidavit.record import file, seal
from affidavit.record.manifest import Evidence, Status, from_record
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.runs import ADOPTED
from affidavit.run.launch import hide


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """A record that was made of foreign files; ``is_new`` says whether it was made just now."""

    folder: Path
    record: Record
    values: int
    unread: tuple[str, ...]
    is_new: bool


def adopt(path: Path, *, runs: Path, vocabulary: Vocabulary, name: str = "") -> Adopted:
    """Return the sealed record of foreign files; the same files make the same record, whoever adopts them when.

    Args:
        runs: the folder of the project's runs.
        name: what the record is called by; what the path is called by default.

    Raises:
        ForeignError: nothing there can be adopted.
        RecordError: what is there under the record's name is not sealed as we seal it.
    """
    foreign = read_foreign(path)
    short = foreign.sha256[:12]
    called = _slug(name or (path.resolve().name if path.is_dir() else path.name)) or "record"
    before = sorted(runs.glob(f"{ADOPTED}*-{short}")) if runs.is_dir() else []
    folder = before[0] if before else runs / f"{ADOPTED}{called}-{short}"
    record = _record(foreign, vocabulary, subject=folder.name, path=path)
    unread = tuple(f"{one.name}, {one.said.removeprefix('not read: ')}" for one in foreign.sources if one.said != READ)
    is_new = not seal.is_sealed(folder)
    if is_new:
        hide(runs)
        _seal(folder, foreign, record, called)
    return Adopted(folder=folder, record=record, values=len(foreign.values), unread=unread, is_new=is_new)


def _seal(folder: Path, foreign: Foreign, record: Record, called: str) -> None:
    """Keep the files by their digests, then seal what they say; a crash between leaves what the next call goes on."""
    place = folder / names.EVIDENCE
    place.mkdir(parents=True, exist_ok=True)
    kept: dict[str, int] = {}
    for one in foreign.sources:
        if one.raw is not None:
            file.place_once(place / one.sha256, one.raw)
            kept[one.sha256] = one.size
    evidence = tuple(Evidence(digest=f"sha256:{name}", bytes=size) for name, size in sorted(kept.items()))
    document = from_record(
        record,
        affidavit=affidavit.__version__,
        status=Status.ADOPTED,
        attempts=(),
        recipe=called,
        evidence=evidence,
    )
    seal.seal(folder, document)


def _record(foreign: Foreign, vocabulary: Vocabulary, *, subject: str, path: Path) -> Record:
    said, contradictions = declared(foreign)
    facts = [_fact(one, vocabulary) for one in said if one.term in vocabulary]
    files = tuple((one.name, f"sha256:{one.sha256}", one.size, one.said) for one in foreign.sources)
    rows = [(one.place, shown(one)) for one in foreign.values]
    if len(rows) > MOST_VALUES:
        rows = [*rows[:MOST_VALUES], (f"and {len(rows) - MOST_VALUES} more", "in the file, which is kept")]
    tables: dict[str, tuple[Value, Method]] = {
        "foreign.files": (Table(("path", "digest", "bytes", "read"), files), Method.INSPECTED),
        "foreign.values": (Table(("key", "value"), tuple(rows)), Method.DECLARED),
    }
    facts += [Fact(name=name, state=Known(value, method, path.name)) for name, (value, method) in tables.items()]
    return Record(
        kind=Kind.FOREIGN,
        subject=subject,
        facts=ordered(facts),
        vocabulary=vocabulary,
        notes=(f"adopted: nothing of it was seen by us ({path.name})", *foreign.notes, *contradictions),
    )


def _fact(one: Declared, vocabulary: Vocabulary) -> Fact:
    """Return a claim under our term; what was only asked for is a request of which nobody says what became."""
    term = vocabulary[one.term]
    value = float(one.value) if term.type is float and isinstance(one.value, int) else one.value
    ranks = (0,) if term.scope is Scope.RANK else ()
    claim = Known(value, Method.DECLARED, one.source)
    if not term.admits(value):
        return Fact(name=one.term, state=Unknown(Cause.ABSENT, f"{one.source} says {value}"), ranks=ranks)
    if one.asked:
        why = "asked for, and nobody says what became of it"
        return Fact(name=one.term, state=Unknown(Cause.ABSENT, why), request=claim, ranks=ranks)
    return Fact(name=one.term, state=claim, ranks=ranks)


def _slug(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name.removesuffix(".json").removesuffix(".md")).strip("-").lower()
    return plain[:40].strip("-")
