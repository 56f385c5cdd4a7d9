"""What a run's own manifest claims of the encoding that it read, against what the run that built it had read.

Blind to: digests of what is in no file; a build in which other processes alone read an input.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table
from affidavit.record import file
from affidavit.record.artifact import WHOLE
from affidavit.record.record import Fact, Record
from affidavit.run.gathered import Gathered
from affidavit.run.holding import LABELS, holds
from affidavit.run.lineage import BY_TIME, Entry, Lineage, window
from affidavit.run.listing import Listing, read_listing
from affidavit.run.opened import FILE_COLUMNS, FILES, OPENED, OPENED_COLUMNS, ROWS, Read, rows_of, shown

CLAIMS = "cache.claims"
CLAIM_COLUMNS = ("manifest", "key", "claimed", "file", "run", "read")
_MANIFEST = "manifest.json"
_MANIFEST_BYTES = 1 << 20
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_OF_LABELS = re.compile(r"mask|label|supervis")
_OF_TOKENS = re.compile(r"template|tokeniz|vocab|prompt|chat|encod|preproc")


def claims_fact(lineage: Lineage, record: Record, gathered: Gathered, *, project: Path) -> Fact:
    """Return each claimed digest of which the file is known, and what of that file the build had read.

    A run that wrote labels itself made its own encoding, and its claims are about that.
    """
    if lineage.gap is not None:
        return Fact(name=CLAIMS, state=lineage.gap)
    opened = rows_of(record, OPENED, OPENED_COLUMNS)
    written = (Path(str(row["path"])) for row in opened if row["use"] == "written")
    rows: list[tuple[Cell, ...]] = []
    if lineage.entries and not any(LABELS in _held(path) for path in written):
        rows += _claims(lineage, record, gathered, project)
    table = Table(CLAIM_COLUMNS, tuple(rows[:ROWS]))
    return Fact(name=CLAIMS, state=Known(table, Method.INSPECTED, "the run's own manifests"))


def _claims(lineage: Lineage, record: Record, gathered: Gathered, project: Path) -> Iterator[tuple[Cell, ...]]:
    ours = _digests(lineage.read, project) | (_inputs(record, gathered.places, project) or {})
    by_digest = {found: path for path, found in ours.items()}
    for path in _manifests(lineage.entries, gathered, project):
        for key, claimed in _claimed(path):
            known_as = by_digest.get(claimed, "")
            about = (entry for entry in lineage.entries if _is_about(key, entry.holds))
            builds = {entry.builder.folder: entry for entry in about if entry.known_by != BY_TIME}
            for folder, entry in builds.items() if known_as else ():
                build = entry.builder.record
                had = _inputs(build, (folder,), project) if build else None
                if had is not None:
                    was = claimed if claimed in had.values() else had.get(known_as, "")
                    yield shown(path, project), key, claimed, known_as, folder.name, was


def _digests(read: Sequence[Read], project: Path) -> dict[str, str]:
    whole = (one for one in read if one.digest.startswith(f"{WHOLE}:"))
    return {shown(one.path, project): one.digest.partition(":")[2] for one in whole}


def _held(path: Path) -> str:
    try:
        return holds(path)
    except OSError:
        return ""


def _is_about(key: str, held: str) -> bool:
    """Say whether a key speaks of what is in an encoding: the model's digest may be another and be right."""
    name = key.lower()
    return bool((LABELS in held and _OF_LABELS.search(name)) or (held and _OF_TOKENS.search(name)))


def _inputs(record: Record, places: Sequence[Path], project: Path) -> dict[str, str] | None:
    """Return the files that a run executed or read, by path, with the sha256 of each that is known whole.

    None where a rank's list is lost: what is not on the others may have been on that one.
    """
    listings = [read_listing(fact.state, places, project) for fact in record.find("code.listing")]
    if not listings or any(not isinstance(listing, Listing) for listing in listings):
        return None
    found: dict[str, str] = {}
    for row in rows_of(record, FILES, FILE_COLUMNS):
        algorithm, _, hexadecimal = str(row["digest"]).partition(":")
        if row["use"] == "read" and algorithm == WHOLE:
            found[str(row["path"])] = hexadecimal
    for listing in listings:
        own = listing.own if isinstance(listing, Listing) else ()
        found |= {shown(one.path, project): one.sha256 for one in own if one.sha256}
    return found


def _manifests(entries: Sequence[Entry], gathered: Gathered, project: Path) -> Iterator[Path]:
    """Yield the manifests of the user's own that speak of this run: those beside entries, saves and the project."""
    started = window(gathered.folder)[0]
    beside = [entry.file.path.parent for entry in entries]
    places = [Path(save.path) for one in gathered.trainers for save in one.reading.saves]
    places += [project, *(above for place in (*places, *beside) for above in (place, place.parent))]
    for folder in dict.fromkeys(places):
        path = folder / _MANIFEST
        with contextlib.suppress(OSError):
            # One that an earlier run left elsewhere claims nothing of this run.
            if path.stat().st_mtime >= started or folder in beside:
                yield path
    yield from (path for path in _declared(gathered, project) if path.is_file())


def _declared(gathered: Gathered, project: Path) -> Iterator[Path]:
    """Yield the manifests that affidavit.toml names beside its caches."""
    for told in gathered.told:
        for fact in told.facts:
            if fact.name == "cache.declared" and isinstance(fact.state, Known) and isinstance(fact.state.value, Table):
                for row in fact.state.value.records():
                    if row.get("manifest"):
                        yield project / str(row["manifest"])


def _claimed(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each key of a manifest whose value is a sha256."""
    try:
        document = json.loads(file.read(path, limit=_MANIFEST_BYTES))
    except (AffidavitError, OSError, ValueError, RecursionError):
        return
    pending: list[tuple[str, object]] = [("", document)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict):
            pending += [(str(name), item) for name, item in value.items()]
        elif isinstance(value, list):
            pending += [(key, item) for item in value]
        elif isinstance(value, str) and (match := _DIGEST.fullmatch(value)):
            yield key, match[1]
