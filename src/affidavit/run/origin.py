"""Where a model came from: the run of this project that wrote it, and whether it is still what that run wrote.

A file that says so can be copied beside any weights. So what counts is the digest of the weights; a mark is a claim,
and one that the weights contradict is told before everything else.

Source: DESIGN §8 (whence).
Blind to: a tensor that was changed between the samples of a large file; a model whose files a run wrote, that was gone
when the run was sealed, and that carries no mark.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import canonical, file
from affidavit.record.artifact import Place
from affidavit.record.runs import RunFolder
from affidavit.run.artifacts import is_weight
from affidavit.run.saved import (
    Group,
    Seen,
    adopted_of,
    alike,
    equal,
    groups_of,
    is_in,
    look,
    relative,
    seals,
    wanted_of,
    weighs,
)
from affidavit.run.sealing import Attest, Running, ensure_sealed

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


def find_origin(path: Path, runs: Sequence[RunFolder], *, project: Path, attest: Attest | None = None) -> Origin:
    """Return where a checkpoint, an adapter, a merged model or one file of them came from.

    Args:
        runs: those of this project, the oldest first; one that is over and not sealed is sealed now.
        attest: is told of a run that is sealed now.

    Raises:
        OriginError: nothing is there, or nothing that a saver of models writes.
    """
    seen = look(path)
    if not seen:
        raise OriginError(_nothing(path))
    mark = read_mark(path if path.is_dir() else path.parent)
    where = relative(path, project)
    sealed = [run for run in reversed(runs) if seals(run, attest)]
    groups = [group for run in sealed for group in groups_of(run, wanted_of(seen, where, mark.run if mark else ""))]
    matching = [group for group in groups if weighs(group, seen)]
    if matching:
        return _from_digests(path, seen, mark, matching, groups)
    if mark is not None and (claimed := next((run for run in runs if run.id == mark.run), None)) is not None:
        own = [group for group in groups if group.run.id == claimed.id]
        return _from_mark(path, seen, mark, claimed, own, where)
    if (there := _at_this_place(path, groups, where)) is not None:
        return _compared(path, seen, mark, there, why="known by its place: no weights here are those that were written")
    if (adopted := adopted_of(sealed, seen)) is not None:
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
    path: Path, seen: Sequence[Seen], mark: Mark | None, matching: list[Group], groups: Sequence[Group]
) -> Origin:
    """Return the origin of weights that were digested when a run was sealed, whatever a mark says."""

    def fits(group: Group) -> tuple[int, bool, bool, int, int, bool]:
        named = mark is not None and group.run.id == mark.run
        at_step = named and mark is not None and group.place.step == mark.step
        alike = PurePosixPath(group.place.path).name == path.name
        return weighs(group, seen), named, at_step, equal(group, seen), -len(group.files), alike

    best = max(matching, key=fits)  # of equals the first, which is the newest
    found = _compared(path, seen, mark, best)
    rivals = (group.run.id for group in matching if weighs(group, seen) == weighs(best, seen))
    same = dict.fromkeys(run for run in rivals if run != best.run.id)
    found = replace(found, others=tuple(same))
    if mark is not None and mark.run != best.run.id:
        why = f"it names run {mark.run}, step {mark.step}; run {best.run.id} wrote these weights"
        return replace(found, verdict=Verdict.CONTRADICTED, why=why)
    if mark is not None and mark.step != best.place.step and _is_settled(mark, groups):
        why = f"it names step {mark.step}; these weights were written at step {best.place.step}"
        return replace(found, verdict=Verdict.CONTRADICTED, why=why)
    return found


def _is_settled(mark: Mark, groups: Sequence[Group]) -> bool:
    """Say whether all that its run saved at a mark's step was digested.

    The best checkpoint is loaded at the end and saved once more: then two steps wrote the same weights, and the folder
    of the later one may be gone.
    """
    return all(
        group.files and group.is_whole for group in groups if (group.run.id, group.place.step) == (mark.run, mark.step)
    )


def _from_mark(
    path: Path, seen: Sequence[Seen], mark: Mark, claimed: RunFolder, own: Sequence[Group], where: str
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
    best = max(held, key=lambda group: (group.place.path == where, equal(group, seen), alike(group, seen)))
    found = _compared(path, seen, mark, best)
    if best.place.path == where or not any(is_weight(one.name) for one in seen):
        return found
    why = f"it names run {mark.run}, step {mark.step}, which wrote none of the weights beside it"
    return replace(found, verdict=Verdict.CONTRADICTED, why=why)


def _compared(path: Path, seen: Sequence[Seen], mark: Mark | None, group: Group, *, why: str = "") -> Origin:
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


def _at_this_place(path: Path, groups: Sequence[Group], where: str) -> Group | None:
    """Return the newest place of that very path, or the one that holds that very file, as some run wrote it."""
    for group in groups:
        if group.files and (group.place.path == where or (not path.is_dir() and is_in(where, group.place.path))):
            return group
    return None


def _nothing(path: Path) -> str:
    return refusal(
        subject=f"whence {path}",
        expected="a folder that holds a model, or one file of it",
        saw="a folder without any such file" if path.is_dir() else "no such file or folder",
        means="There is nothing to be found out.",
        action='Name a checkpoint; "affidavit show RUN --facts" lists what a run saved.',
        unaffected="every run",
    )
