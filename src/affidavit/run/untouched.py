"""The records that a run builds on, each verified when the run is judged: a seal that was broken later shows then, too.

A checkpoint says by its mark which run wrote it, an encoding is known by its bytes, a rehearsal by its recipe, an
earlier attempt by its place. A run whose folder is gone says nothing, and is told as gone.

Source: playbook §4.7; anchors-provenance §11.3.
Blind to: the run that a lock was accepted from, which the lock does not name; checkpoints without a mark whose files
are not digested; weights that are read by no Python file and stand beside no config; what a tracker remembers, which
``verify`` alone asks: it may be far away, and a run builds on many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Table
from affidavit.record import verification
from affidavit.record.record import Fact, Record
from affidavit.record.standing import Examined, Standing
from affidavit.run.attesting import Notary
from affidavit.run.code import LISTING
from affidavit.run.lineage import BY_TIME, LINEAGE, LINEAGE_COLUMNS
from affidavit.run.listing import Listing, read_listing
from affidavit.run.opened import OPENED, OPENED_COLUMNS, rows_of
from affidavit.run.origin import read_mark
from affidavit.run.sealing import earlier

BUILT_ON = "record.built_on"
COLUMNS = ("as", "run", "standing", "said")
GONE = "not here"
ROWS = 50


def built_on(record: Record, folder: Path, notary: Notary, *, rehearsal: str = "") -> Fact:
    """Return how the record of each run stands that a run builds on.

    Args:
        folder: the run's own; the runs beside it are those of the project.
        notary: who says whose signature is believed, and what the repository remembers.
        rehearsal: the run that it was rehearsed in, "" where in none.
    """
    named = [("rehearsal", rehearsal)] if rehearsal else []
    named += [("encoding", str(row["run"])) for row in _lineage(record)]
    named += [("checkpoint", run) for run in _marked(record, folder, notary.root)]
    rows = [
        (what, run, *_stands(folder.parent / run, notary))
        for what, run in dict.fromkeys(named)
        if run != folder.name and Path(run).name == run
    ]
    rows += [("attempt", place.name, *_worst(_seal(place, notary))) for place in earlier(folder)]
    return Fact(name=BUILT_ON, state=Known(Table(COLUMNS, tuple(rows[:ROWS])), Method.INSPECTED, "the runs beside it"))


def _lineage(record: Record) -> Iterator[Mapping[str, object]]:
    yield from (row for row in rows_of(record, LINEAGE, LINEAGE_COLUMNS) if row["known_by"] != BY_TIME)


def _marked(record: Record, folder: Path, project: Path) -> Iterator[str]:
    """Yield the runs whose marks lie beside files that this run opened."""
    opened = [Path(str(row["path"])) for row in rows_of(record, OPENED, OPENED_COLUMNS) if row["use"] == "read"]
    states = (fact.state for fact in record.facts if fact.name == LISTING)
    for state in states:
        listing = read_listing(state, [folder], project) if isinstance(state, Known) else None
        opened += sorted(listing.configs) if isinstance(listing, Listing) else []
    for place in dict.fromkeys(project / path.parent for path in opened):
        mark = read_mark(place)
        if mark is not None:
            yield mark.run


def _stands(folder: Path, notary: Notary) -> tuple[str, str]:
    if not folder.is_dir():
        return GONE, "its folder is gone, or it ran elsewhere"
    try:
        return _worst(notary.verify(folder).examined)
    except (AffidavitError, OSError) as error:
        return Standing.UNCHECKED.value, str(error).partition("\n")[0]


def _seal(place: Path, notary: Notary) -> tuple[Examined, ...]:
    return verification.examine_seal(place, notary.trust())


def _worst(examined: tuple[Examined, ...]) -> tuple[str, str]:
    for standing in (Standing.BROKEN, Standing.UNCHECKED):
        said = [f"{one.what}: {one.said}" for one in examined if one.standing is standing]
        if said:
            return standing.value, "; ".join(said)
    return Standing.HOLDS.value, ""
