"""Where a model came from: the run of this project that wrote it, and whether it is still what that run wrote.

A file that says so can be copied beside any weights. So what counts is the digest of the weights; a mark is a claim,
and one that the weights contradict is told before everything else.

Source: DESIGN §8 (whence). Manifests are searched as bytes, and only those that hold what is looked for are read.
Blind to: a tensor that was changed between the samples of a large file; a model whose files a run wrote, that was gone
when the run was sealed, and that carries no mark.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import artifact, canonical, file, manifest, seal
from affidavit.record.artifact import Place, Written
from affidavit.record.manifest import Manifest
from affidavit.record.record import Kind, Record
from affidavit.record.runs import RunFolder
from affidavit.run.artifacts import digest, is_model_file, is_weight
from affidavit.run.sealing import Running, earlier, ensure_sealed

MOST_FILES = 2000
DEEPEST = 3
MARK_BYTES = 4096


class OriginError(AffidavitError):
    """There is nothing at a path that a run could have written."""


class Verdict(enum.Enum):
    """What is known of where a model came from; each explains itself, and says which exit code it has."""

    INTACT = "as the run wrote it"
    CHANGED = "changed since the run wrote it"
    CONTRADICTED = "the mark beside it speaks of another model"
    UNCOMPARED = "by its mark alone: nothing of it was digested"
    CLAIMED = "by its own word: this project has no such run"
    UNKNOWN = "no run of this project wrote it"

    @property
    def exit_code(self) -> int:
        return 0 if self is Verdict.INTACT else 1 if self in (Verdict.CHANGED, Verdict.CONTRADICTED) else 4


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What the mark beside a model claims."""

    run: str
    attempt: int
    recipe: str
    step: int
    time: str
    commit: str
    tree: str
    affidavit: str


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A file by its name, and how it stands to what the run wrote under that name."""

    name: str
    state: str


AS_WRITTEN, CHANGED, STRANGE, ABSENT = "as written", "changed since", "not written by this run", "not here"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where one path came from: the run and the place in it, what its mark claims, and file by file what still holds.

    ``run`` is None where no run of this project is known to have written it; ``others`` wrote the very same bytes.
    """

    path: Path
    verdict: Verdict
    why: str = ""
    mark: Mark | None = None
    run: RunFolder | None = None
    place: Place | None = None
    files: tuple[Compared, ...] = ()
    others: tuple[str, ...] = ()

    def of(self, state: str) -> tuple[str, ...]:
        """Return the names of the files that stand so."""
        return tuple(one.name for one in self.files if one.state == state)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """A file that was looked at: its name below the path, and its digest."""

    name: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class _Group:
    """A place of a run with the files that were digested in it, by their names below it."""

    run: RunFolder
    place: Place
    files: dict[str, Written]
    is_whole: bool


def find_origin(path: Path, runs: Sequence[RunFolder], *, project: Path) -> Origin:
    """Return where a checkpoint, an adapter, a merged model or one file of them came from.

    Args:
        runs: those of this project, the oldest first; one that is over and not sealed is sealed now.

    Raises:
        OriginError: nothing is there, or nothing that a saver of models writes.
    """
    seen = _look(path)
    if not seen:
        raise OriginError(_nothing(path))
    mark = read_mark(path if path.is_dir() else path.parent)
    where = _relative(path, project)
    sealed = [run for run in reversed(runs) if _is_sealed(run)]
    groups = [group for run in sealed for group in _groups(run, _wanted(seen, where, mark))]
    matching = [group for group in groups if _weighs(group, seen)]
    if matching:
        return _from_digests(path, seen, mark, matching, groups)
    if mark is not None and (claimed := next((run for run in runs if run.id == mark.run), None)) is not None:
        own = [group for group in groups if group.run.id == claimed.id]
        return _from_mark(path, seen, mark, claimed, own, where)
    if (there := _at_this_place(path, groups, where)) is not None:
        return _compared(path, seen, mark, there, why="known by its place: no weights here are those that were written")
    if (adopted := _adopted(sealed, seen)) is not None:
        return _compared(path, seen, mark, adopted)
    verdict = Verdict.UNKNOWN if mark is None else Verdict.CLAIMED
    return Origin(path=path, verdict=verdict, mark=mark)


def read_mark(folder: Path) -> Mark | None:
    """Return what the mark in a folder claims; None where there is none, or what is there is none of ours."""
    try:
        said = canonical.parse(file.read(folder / names.MARK, limit=MARK_BYTES))
    except (AffidavitError, OSError):
        return None
    match said:
        case {
            "format": 1,
            "affidavit": str(version),
            "run": str(run),
            "attempt": int(attempt),
            "recipe": str(recipe),
            "step": int(step),
            "time": str(time),
            "commit": str(commit),
            "tree": str(tree),
        } if run:
            return Mark(
                run=run,
                attempt=attempt,
                recipe=recipe,
                step=step,
                time=time,
                commit=commit,
                tree=tree,
                affidavit=version,
            )
    return None


def _from_digests(
    path: Path, seen: Sequence[_Seen], mark: Mark | None, matching: list[_Group], groups: Sequence[_Group]
) -> Origin:
    """Return the origin of weights that were digested when a run was sealed, whatever a mark says."""

    def fits(group: _Group) -> tuple[int, bool, bool, int, bool]:
        named = mark is not None and group.run.id == mark.run
        at_step = named and mark is not None and group.place.step == mark.step
        alike = PurePosixPath(group.place.path).name == path.name
        return _weighs(group, seen), named, at_step, _equal(group, seen), alike

    best = max(matching, key=fits)  # of equals the first, which is the newest
    found = _compared(path, seen, mark, best)
    same = dict.fromkeys(group.run.id for group in matching if group.run.id != best.run.id)
    found = replace(found, others=tuple(same))
    if mark is not None and mark.run != best.run.id:
        why = f"it names run {mark.run}, step {mark.step}; run {best.run.id} wrote these weights"
        return replace(found, verdict=Verdict.CONTRADICTED, why=why)
    if mark is not None and mark.step != best.place.step and _is_settled(mark, groups):
        why = f"it names step {mark.step}; these weights were written at step {best.place.step}"
        return replace(found, verdict=Verdict.CONTRADICTED, why=why)
    return found


def _is_settled(mark: Mark, groups: Sequence[_Group]) -> bool:
    """Say whether all that its run saved at a mark's step was digested.

    The best checkpoint is loaded at the end and saved once more: then two steps wrote the same weights, and the folder
    of the later one may be gone.
    """
    return all(
        group.files and group.is_whole for group in groups if (group.run.id, group.place.step) == (mark.run, mark.step)
    )


def _from_mark(
    path: Path, seen: Sequence[_Seen], mark: Mark, claimed: RunFolder, own: Sequence[_Group], where: str
) -> Origin:
    """Return the origin of a model none of whose weights any run is known to have written, though its mark names one.

    Args:
        own: the places of the run that the mark names.
        where: the path as a record would write it.
    """
    if isinstance(ensure_sealed(claimed.folder), Running):
        why = f"run {claimed.id} goes on; its files are digested when it ends"
        return Origin(path=path, verdict=Verdict.UNCOMPARED, why=why, mark=mark, run=claimed)
    of_step = [group for group in own if group.place.step == mark.step]
    held = [group for group in of_step if group.files and group.is_whole]
    if not held or (len(held) < len(of_step) and all(group.place.path != where for group in held)):
        why = "it was gone when the run was sealed" if of_step else "the run's record lists no such save"
        place = of_step[0].place if of_step else None
        return Origin(path=path, verdict=Verdict.UNCOMPARED, why=why, mark=mark, run=claimed, place=place)
    best = max(held, key=lambda group: (group.place.path == where, _equal(group, seen), _alike(group, seen)))
    found = _compared(path, seen, mark, best)
    if best.place.path == where or not any(is_weight(one.name) for one in seen):
        return found
    why = f"it names run {mark.run}, step {mark.step}, which wrote none of the weights beside it"
    return replace(found, verdict=Verdict.CONTRADICTED, why=why)


def _compared(path: Path, seen: Sequence[_Seen], mark: Mark | None, group: _Group, *, why: str = "") -> Origin:
    """Return the origin of a path that is held against one place of one run, file by file."""
    by_digest = {written.digest for written in group.files.values()}
    said: list[Compared] = []
    for one in seen:
        written = group.files.get(one.name)
        if one.digest in by_digest:
            said.append(Compared(name=one.name, state=AS_WRITTEN))
        elif written is not None:
            said.append(Compared(name=one.name, state=CHANGED))
        else:
            said.append(Compared(name=one.name, state=STRANGE))
    held = {one.name for one in seen} if path.is_dir() else group.files.keys()
    said += [Compared(name=name, state=ABSENT) for name in group.files if name not in held]
    foreign = [one.name for one in said if one.state == STRANGE and is_weight(one.name) and group.is_whole]
    changed = [one.name for one in said if one.state == CHANGED]
    verdict = Verdict.CHANGED if changed or foreign else Verdict.INTACT
    return Origin(path=path, verdict=verdict, why=why, mark=mark, run=group.run, place=group.place, files=tuple(said))


def _weighs(group: _Group, seen: Sequence[_Seen]) -> int:
    """Return how many of the files that tell a model are those of this place: its weights, or all where it has none."""
    telling = [one for one in seen if is_weight(one.name)] or list(seen)
    written = {one.digest for one in group.files.values()}
    return sum(one.digest in written for one in telling)


def _equal(group: _Group, seen: Sequence[_Seen]) -> int:
    written = {one.digest for one in group.files.values()}
    return sum(one.digest in written for one in seen)


def _alike(group: _Group, seen: Sequence[_Seen]) -> int:
    return len(group.files.keys() & {one.name for one in seen})


def _wanted(seen: Sequence[_Seen], where: str, mark: Mark | None) -> tuple[bytes, ...]:
    """Return what a manifest that matters here holds at least one of: what many models share is not among it."""
    telling = [one for one in seen if is_weight(one.name)] or list(seen)
    wanted = [one.digest.rpartition(":")[2] for one in telling]
    wanted += [mark.run] if mark is not None else []
    wanted.append(f'"{where}')
    return tuple(text.encode("utf-8", "backslashreplace") for text in wanted)


def _groups(run: RunFolder, wanted: Sequence[bytes]) -> Iterator[_Group]:
    """Yield the places of a run whose record holds anything that is wanted; earlier attempts follow the last."""
    for folder in (run.folder, *reversed(earlier(run.folder))):
        try:
            raw = file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)
            if any(text in raw for text in wanted):
                yield from _places(run, seal.read_sealed(folder).manifest)
        except (AffidavitError, OSError):
            continue  # what is wrong with another run keeps nobody from finding this one; "ls" names it


def _adopted(runs: Iterable[RunFolder], seen: Sequence[_Seen]) -> _Group | None:
    """Return what was adopted of these very files: a card, a config, whatever else says something of weights."""
    wanted = [one.digest.rpartition(":")[2].encode() for one in seen]
    adopted = (run for run in runs if run.is_adopted)
    return max(
        (group for run in adopted for group in _groups(run, wanted)),
        key=lambda group: _equal(group, seen),
        default=None,
    )


def _places(run: RunFolder, sealed: Manifest) -> Iterator[_Group]:
    """Yield each place of a run with its files; a correction of what is listed does not make the files another's."""
    record = manifest.to_record(sealed)
    found = artifact.files(record)
    is_whole = not _is_cut(record)
    places = artifact.places(record)
    if record.kind is Kind.FOREIGN:
        adopted = Place(path=sealed.recipe, form="adopted", step=0, time="", state="", mark="")
        inside = {one.path: one for one in found}
        yield _Group(run=run, place=adopted, files=inside, is_whole=False)
    for place in places:
        inside = {_below(one.path, place.path): one for one in found if _is_in(one.path, place.path)}
        yield _Group(run=run, place=place, files=inside, is_whole=is_whole)


def _is_cut(record: Record) -> bool:
    """Say whether some files were not digested, so that one that is not listed may be the run's all the same."""
    return any(artifact.counts(record)[kind] for kind in ("beyond the list", "out of time", "unreadable"))


def _is_in(path: str, place: str) -> bool:
    return path == place or PurePosixPath(path).is_relative_to(place)


def _below(path: str, place: str) -> str:
    return PurePosixPath(path).name if path == place else str(PurePosixPath(path).relative_to(place))


def _at_this_place(path: Path, groups: Sequence[_Group], where: str) -> _Group | None:
    """Return the newest place of that very path, or the one that holds that very file, as some run wrote it."""
    for group in groups:
        if group.files and (group.place.path == where or (not path.is_dir() and _is_in(where, group.place.path))):
            return group
    return None


def _relative(path: Path, project: Path) -> str:
    full = Path(os.path.normpath(Path.cwd() / path))
    return str(full.relative_to(project)) if full.is_relative_to(project) else str(full)


def _is_sealed(run: RunFolder) -> bool:
    """Seal a run that is over; say whether there is a seal to be read."""
    try:
        return run.is_sealed or not isinstance(ensure_sealed(run.folder), Running)
    except AffidavitError:
        return False


def _look(path: Path) -> tuple[_Seen, ...]:
    """Return the files at a path with their digests; links are followed, because a cache of models is made of them."""
    if path.is_file():
        return (_Seen(name=path.name, digest=digest(path)),)
    found: list[_Seen] = []
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
                    found.append(_Seen(name=str((here / name).relative_to(path)), digest=digest(here / name)))
                except OSError:
                    continue
    return tuple(found)


def _nothing(path: Path) -> str:
    return refusal(
        subject=f"whence {path}",
        expected="a folder that holds a model, or one file of it",
        saw="a folder without any such file" if path.is_dir() else "no such file or folder",
        means="There is nothing to be found out.",
        action='Name a checkpoint; "affidavit show RUN --facts" lists what a run saved.',
        unaffected="every run",
    )
