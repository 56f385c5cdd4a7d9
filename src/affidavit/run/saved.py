"""The models that the runs of a project saved, as their manifests list them, and what lies at a path today.

Manifests are searched as bytes, and only those that hold what is looked for are read: five hundred take a third of a
second.

Blind to: a run whose manifest cannot be read; "ls" names it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.record import artifact, file, manifest, seal
from affidavit.record.artifact import Place, Written
from affidavit.record.manifest import Manifest
from affidavit.record.record import Kind, Record
from affidavit.record.runs import RunFolder
from affidavit.run.artifacts import digest, is_model_file, is_weight
from affidavit.run.sealing import Attest, Running, earlier, ensure_sealed

MOST_FILES = 2000
DEEPEST = 3


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A file that was looked at: its name below the path, and its digest."""

    name: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """A place of a run with the files that were digested in it, by their names below it."""

    run: RunFolder
    place: Place
    files: dict[str, Written]
    is_whole: bool


def wanted_of(seen: Sequence[Seen], where: str, run: str) -> tuple[bytes, ...]:
    """Return what a manifest that matters here holds at least one of: what many models share is not among it."""
    telling = [one for one in seen if is_weight(one.name)] or list(seen)
    wanted = [one.digest.rpartition(":")[2] for one in telling]
    wanted += [run] if run else []
    wanted.append(f"[{json.dumps(where, ensure_ascii=False)},")  # the first cell of a row
    return tuple(text.encode("utf-8", "backslashreplace") for text in wanted)


def groups_of(run: RunFolder, wanted: Sequence[bytes]) -> Iterator[Group]:
    """Yield the places of a run whose record holds anything that is wanted; earlier attempts follow the last."""
    for folder in (run.folder, *reversed(earlier(run.folder))):
        try:
            raw = file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
            if any(text in raw for text in wanted):
                yield from _places(run, seal.read_sealed(folder).manifest)
        except (AffidavitError, OSError):
            continue  # what is wrong with another run keeps nobody from finding this one; "ls" names it


def adopted_of(runs: Iterable[RunFolder], seen: Sequence[Seen]) -> Group | None:
    """Return what was adopted of these very files: a card, a config, whatever else says something of weights."""
    wanted = [one.digest.rpartition(":")[2].encode() for one in seen]
    adopted = (run for run in runs if run.is_adopted)
    return max(
        (group for run in adopted for group in groups_of(run, wanted)),
        key=lambda group: equal(group, seen),
        default=None,
    )


def _places(run: RunFolder, sealed: Manifest) -> Iterator[Group]:
    """Yield each place of a run with its files; a correction of what is listed does not make the files another's."""
    record = manifest.to_record(sealed)
    found = artifact.files(record)
    is_whole = not _is_cut(record)
    places = artifact.places(record)
    if record.kind is Kind.FOREIGN:
        adopted = Place(path=sealed.recipe, form="adopted", step=0, time="", state="", mark="")
        inside = {one.path: one for one in found}
        yield Group(run=run, place=adopted, files=inside, is_whole=False)
    deepest = sorted((place.path for place in places), key=len, reverse=True)
    homes = {one.path: next((home for home in deepest if is_in(one.path, home)), "") for one in found}
    for place in places:
        inside = {_below(one.path, place.path): one for one in found if homes[one.path] == place.path}
        yield Group(run=run, place=place, files=inside, is_whole=is_whole)


def _is_cut(record: Record) -> bool:
    """Say whether some files were not digested, so that one that is not listed may be the run's all the same."""
    return any(artifact.counts(record)[kind] for kind in ("beyond the list", "out of time", "unreadable"))


def is_in(path: str, place: str) -> bool:
    return path == place or PurePosixPath(path).is_relative_to(place)


def _below(path: str, place: str) -> str:
    return PurePosixPath(path).name if path == place else str(PurePosixPath(path).relative_to(place))


def seals(run: RunFolder, attest: Attest | None) -> bool:
    """Seal a run that is over; say whether there is a seal to be read."""
    try:
        return run.is_sealed or not isinstance(ensure_sealed(run.folder, attest=attest), Running)
    except AffidavitError:
        return False


def look(path: Path) -> tuple[Seen, ...]:
    """Return the files at a path with their digests; links are followed, because a cache of models is made of them."""
    if path.is_file():
        return (Seen(name=path.name, digest=digest(path)),)
    found: list[Seen] = []
    for top, folders, held in os.walk(path):
        here = Path(top)
        depth = len(here.relative_to(path).parts)
        # A folder that carries a mark of its own is another model: the checkpoints beside the one that came of them.
        folders[:] = [
            name
            for name in sorted(folders)
            if depth < DEEPEST and not name.startswith(".") and not (here / name / names.MARK).exists()
        ]
        for name in sorted(held):
            if is_model_file(name) and len(found) < MOST_FILES:
                try:
                    found.append(Seen(name=str((here / name).relative_to(path)), digest=digest(here / name)))
                except OSError:
                    continue
    return tuple(found)


def weighs(group: Group, seen: Sequence[Seen]) -> int:
    """Return how many of the files that tell a model are those of this place: its weights, or all where it has none."""
    telling = [one for one in seen if is_weight(one.name)] or list(seen)
    written = {one.digest for one in group.files.values()}
    return sum(one.digest in written for one in telling)


def equal(group: Group, seen: Sequence[Seen]) -> int:
    written = {one.digest for one in group.files.values()}
    return sum(one.digest in written for one in seen)


def alike(group: Group, seen: Sequence[Seen]) -> int:
    return len(group.files.keys() & {one.name for one in seen})


def relative(path: Path, project: Path) -> str:
    full = Path(os.path.normpath(Path.cwd() / path))
    return str(full.relative_to(project)) if full.is_relative_to(project) else str(full)
