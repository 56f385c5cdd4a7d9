"""The files that a run wrote as models, as its record names them.

A digest of samples proves that a file was changed, never that it was not; so only whole digests become subjects of a
statement that somebody signs.

Source: in-toto Statement v1 (a subject is a name and its digests).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Tally, Value
from affidavit.record.record import Record

WHOLE = "sha256"
"""The algorithm of a digest that covers every byte; every other name says what it leaves out."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A file as it was when its run was sealed; ``digest`` is ``algorithm:hex``, ``path`` as the record writes it."""

    path: str
    digest: str
    bytes: int
    step: int

    @property
    def is_whole(self) -> bool:
        return self.digest.startswith(f"{WHOLE}:")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run saved a model: ``state`` says whether it was still there when the run was sealed."""

    path: str
    form: str
    step: int
    time: str
    state: str
    mark: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a signed statement is about: a file's name, and the hex of its sha256."""

    name: str
    sha256: str


def files(record: Record) -> tuple[Written, ...]:
    """Return the files that a run wrote as models and that were digested; none where that fact is unknown or fell.

    Of a record that was adopted, they are the files that it was made of.
    """
    return tuple(
        Written(path=str(row["path"]), digest=str(row["digest"]), bytes=int(row["bytes"]), step=int(row.get("step", 0)))
        for row in (
            *_rows(record, "artifact.files", path=str, digest=str, bytes=int),
            *_rows(record, "foreign.files", path=str, digest=str, bytes=int),
        )
    )


def places(record: Record) -> tuple[Place, ...]:
    """Return the places that a run saved a model to, the newest first; what was rotated away is among them."""
    return tuple(
        Place(
            path=str(row["path"]),
            form=str(row["form"]),
            step=int(row["step"]),
            time=str(row["time"]),
            state=str(row["state"]),
            mark=str(row["mark"]),
        )
        for row in _rows(
            record, "artifact.saves", step=int, **dict.fromkeys(("path", "form", "time", "state", "mark"), str)
        )
    )


def subjects(record: Record) -> tuple[Subject, ...]:
    """Return what a statement about a run is about: each of its files of which every byte is in the digest."""
    return tuple(
        Subject(name=one.path, sha256=one.digest.removeprefix(f"{WHOLE}:")) for one in files(record) if one.is_whole
    )


def counts(record: Record) -> Tally:
    """Return how many of the files were digested, and how many were not, by the reason."""
    found = (value for value in _values(record, "artifact.files_by_state") if isinstance(value, Tally))
    return next(found, Tally("files", ()))


def _rows(record: Record, name: str, **shape: type) -> Iterator[dict[str, bool | int | float | str]]:
    """Yield the rows of this shape; a record of another version, or a bent one, may have others."""
    for value in _values(record, name):
        if isinstance(value, Table):
            yield from value.records(**shape)


def _values(record: Record, name: str) -> Iterator[Value]:
    """Yield what is known of a term; the record may be older than the term, so it is not asked by name."""
    for fact in record.facts:
        if fact.name == name and isinstance(fact.state, Known):
            yield fact.state.value
