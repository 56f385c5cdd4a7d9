"""The tree gate's evidence: what will run and deviates, and, apart from it, what is merely dirty.

A gate that refuses for a README edit is switched off within a week; one that asks `git status` passes an
ignored module. Only files that run are weighed; the rest gets one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from affidavit.observe.benign import BenignLine, benign_line, is_output_only
from affidavit.observe.code import CodeIdentity
from affidavit.observe.error import GitMissingError, NotARepositoryError, ObserveError, StampError
from affidavit.observe.identity import FileIdentity, Refusal
from affidavit.observe.repository import Repository, find_top, read, recorded_commit
from affidavit.observe.scripts import Spot
from affidavit.observe.stamp import NAME, Stamp, find
from affidavit.observe.stamp import read as read_stamp
from affidavit.observe.verdict import DESCRIBED, UNDETERMINED, FileVerdict

OWN_FILES: Final = (
    *("affidavit.toml", "affidavit.lock", "measurements.jsonl", "instruments.jsonl", "attestations.jsonl"),
    NAME,
)


class TreeState(Enum):
    """What there is to judge the project folder by."""

    READ = "read"
    UNBORN = "unborn HEAD"
    REFUSED = "git refused"
    NO_GIT = "no git program"
    NO_REPOSITORY = "no repository"
    STAMPED = "stamped"
    STAMP_REFUSED = "stamp refused"


@dataclass(frozen=True, kw_only=True)
class MovedSubmodule:
    """A submodule that ran at another commit than the superproject records."""

    top: Path
    recorded: str
    checked_out: str | None


@dataclass(frozen=True, kw_only=True)
class TreeReport:
    """Everything a gate may weigh; it decides nothing.

    `sites` run and deviate; `undetermined` run and could not be judged; `benign` is dirty and does not run;
    `own` are files of Affidavit's own, which are exempt; `home` is the project's own repository, `stamp` what stands
    for it where there is none.
    """

    state: TreeState
    why: str
    home: Repository | None
    stamp: Stamp | None
    examined: int
    sites: tuple[FileIdentity, ...]
    undetermined: tuple[FileIdentity, ...]
    moved: tuple[MovedSubmodule, ...]
    refusals: tuple[Refusal, ...]
    not_scanned: tuple[Spot, ...]
    dynamic: tuple[Spot, ...]
    own: tuple[Path, ...]
    benign: tuple[BenignLine, ...]

    @property
    def is_described(self) -> bool:
        """Commits and distributions describe every file that was examined, and at least one was."""
        nothing_open = not (self.undetermined or self.refusals or self.not_scanned)
        deviates = self.sites or self.moved
        return self.state in (TreeState.READ, TreeState.STAMPED) and self.examined > 0 and nothing_open and not deviates


def examine(
    code: CodeIdentity,
    project: Path,
    *,
    not_scanned: Sequence[Spot] = (),
    dynamic: Sequence[Spot] = (),
) -> TreeReport:
    """The files that run are weighed one by one; everything else that is dirty gets one line.

    Args:
        code: identities of the files that will run (static closure and named configs) or that ran.
        project: the folder the run is started from; its repository gives the state.
        not_scanned: files of the closure that could not be read as Python: never clean.
        dynamic: imports that only the run itself decides; listed, and left to the run.
    Source: playbook §4.4; issue 2, eight benign trees.
    Blind to: data files; configs that nobody named; what `dynamic` lists.
    """
    state, why, home = _home(project.resolve(), code)
    stamp = None
    if state in (TreeState.NO_GIT, TreeState.NO_REPOSITORY, TreeState.REFUSED):
        state, why, stamp = _stamp(project.resolve(), code, state, why)
    known = {repository.top: repository for repository in code.repositories}
    if home is not None:
        known.setdefault(home.top, home)
    folders = {project.resolve(), *known}
    running = [file for file in code.files if not _is_own(file.real, folders)]
    outputs = {file.real for file in running if _is_notebook_output(file, known)}
    weighed = [file for file in running if file.verdict not in DESCRIBED and file.real not in outputs]
    moved, unanswered = moved_submodules(code.repositories)
    return TreeReport(
        state=state,
        why=why,
        home=home,
        stamp=stamp,
        examined=len(code.files),
        sites=tuple(file for file in weighed if file.verdict not in UNDETERMINED),
        undetermined=tuple(file for file in weighed if file.verdict in UNDETERMINED),
        moved=moved,
        refusals=code.refusals + unanswered,
        not_scanned=tuple(not_scanned),
        dynamic=tuple(dynamic),
        own=_own(folders),
        benign=_benign(known, {file.real for file in weighed}, folders),
    )


def _home(project: Path, code: CodeIdentity) -> tuple[TreeState, str, Repository | None]:
    top = find_top(project)
    home = next((repository for repository in code.repositories if repository.top == top), None)
    if home is None:
        try:
            home = read(project)
        except GitMissingError as error:
            return TreeState.NO_GIT, str(error), None
        except NotARepositoryError as error:
            return TreeState.NO_REPOSITORY, str(error), None
        except ObserveError as error:
            return TreeState.REFUSED, str(error), None
    if home.commit is None:
        return TreeState.UNBORN, f"{home.top} has no commit yet", home
    return TreeState.READ, home.status_refusal, home


def _stamp(project: Path, code: CodeIdentity, state: TreeState, why: str) -> tuple[TreeState, str, Stamp | None]:
    """What stands for the commit where git is not: a stamp around the project, or around the code that it runs."""
    path = find(project)
    if path is None:
        return (TreeState.STAMPED, "", code.stamps[0]) if code.stamps else (state, why, None)
    try:
        return TreeState.STAMPED, "", read_stamp(path)
    except StampError as error:
        return TreeState.STAMP_REFUSED, str(error), None


def moved_submodules(
    repositories: Sequence[Repository], commits: Mapping[Path, str] = MappingProxyType({})
) -> tuple[tuple[MovedSubmodule, ...], tuple[Refusal, ...]]:
    """Submodules at another commit than recorded, and superprojects that would not say.

    Args:
        commits: repository top → commit seen at launch; HEAD where a top is absent.
    Source: playbook §4.4; anchors-provenance §3 (a submodule's own status is clean at any commit).
    Blind to: what :func:`affidavit.observe.repository.recorded_commit` is blind to.
    """
    moved: list[MovedSubmodule] = []
    refused: list[Refusal] = []
    for repository in repositories:
        try:
            recorded = recorded_commit(repository.top, commits)
        except ObserveError as error:
            refused.append(Refusal(top=repository.top.parent, why=str(error), is_git_missing=False))
            continue
        if recorded is not None and recorded != repository.commit:
            moved.append(MovedSubmodule(top=repository.top, recorded=recorded, checked_out=repository.commit))
    return tuple(moved), tuple(refused)


def _is_own(path: Path, folders: set[Path]) -> bool:
    return path.name in OWN_FILES and path.parent in folders


def _own(folders: set[Path]) -> tuple[Path, ...]:
    return tuple(folder / name for folder in sorted(folders) for name in OWN_FILES if (folder / name).is_file())


def _is_notebook_output(file: FileIdentity, known: dict[Path, Repository]) -> bool:
    """A notebook that runs and whose cells are the commit's, whatever its outputs say."""
    repository = known.get(file.owner.folder) if file.owner.folder else None
    rewritten = file.verdict in (FileVerdict.MODIFIED, FileVerdict.FILTER_HIDES)  # nbstripout is such a filter
    if repository is None or not rewritten or file.real.suffix != ".ipynb":
        return False
    return is_output_only(repository, file.owner.path)


def _benign(known: dict[Path, Repository], weighed: set[Path], folders: set[Path]) -> tuple[BenignLine, ...]:
    lines: list[BenignLine] = []
    for repository in known.values():
        for line in repository.status or ():
            path = repository.top / line.path
            if path in weighed or _is_own(path, folders) or path in known:
                continue
            holds_sites = any(site.is_relative_to(path) for site in weighed)
            lines.append(benign_line(repository, line, holds_sites=holds_sites))
    return tuple(lines)
