"""The runs of a project, and how a person names one."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import seal

VARIABLE = "AFFIDAVIT_DIR"
LAST = "last"
ADOPTED = "adopted-"
"""How the id of a record begins that was made of somebody else's files; no scheduler and no clock begins so."""


class RunNotFoundError(AffidavitError):
    """No run has that name, or more than one has."""


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """A run by its id and its folder; ``started_ns`` is when its last attempt was launched, as the file system says."""

    id: str
    folder: Path
    started_ns: int

    @property
    def is_adopted(self) -> bool:
        """Whether it is no run of ours, but what somebody says of one."""
        return self.id.startswith(ADOPTED)

    @property
    def is_sealed(self) -> bool:
        return seal.is_sealed(self.folder)


def home(root: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder that holds everything of ours for a project: ``.affidavit``, or where AFFIDAVIT_DIR says."""
    said = os.environ if environment is None else environment  # asked now: who imports us may replace it later
    return Path(said.get(VARIABLE) or root / ".affidavit")


def runs(root: Path, environment: Mapping[str, str] | None = None) -> tuple[RunFolder, ...]:
    """Return the runs of a project, the oldest first; none where there is no folder yet.

    A folder in which nothing of a run lies is none: it is somebody else's, or its run is only just being prepared.
    """
    folder = home(root, environment) / "runs"
    if not folder.is_dir():
        return ()
    entries = (entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    found = [_run(entry) for entry in entries if _is_run(entry)]
    return tuple(sorted(found, key=lambda run: (run.started_ns, run.id)))


def find(root: Path, name: str, environment: Mapping[str, str] | None = None) -> RunFolder:
    """Return the run that a person means: ``last``, an id, the beginning of one, or the path of a run folder.

    Raises:
        RunNotFoundError: none or several; the message lists what is near.
    """
    held = runs(root, environment)
    if name == LAST and (ran := [run for run in held if not run.is_adopted]):
        return ran[-1]
    exact = [run for run in held if run.id == name]
    matching = exact or [run for run in held if name and run.id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    path = Path(name)
    if not matching and name and path.is_dir() and _is_run(path):
        return _run(path.resolve())
    raise RunNotFoundError(_refused(name, held, matching, home(root, environment) / "runs"))


def is_misplaced(folder: Path, run: str, root: Path, environment: Mapping[str, str] | None = None) -> bool:
    """Say whether a record lies among the runs of a project under another name than the one that it was sealed with.

    A seal holds wherever its folder lies. Two folders that change places would each speak for the other run.
    """
    return folder.name != run and folder.parent.resolve() == (home(root, environment) / "runs").resolve()


def _run(folder: Path) -> RunFolder:
    launched = [path.stat().st_mtime_ns for path in folder.glob("launch.*.json")]
    return RunFolder(id=folder.name, folder=folder, started_ns=max(launched, default=folder.stat().st_mtime_ns))


def _is_run(folder: Path) -> bool:
    marks = (names.MANIFEST, names.HELLO, "launch.*.json", "attempt.*.json", "journal.*.jsonl")
    return any(True for mark in marks for _ in folder.glob(mark))


def _refused(name: str, held: tuple[RunFolder, ...], matching: list[RunFolder], folder: Path) -> str:
    ids = [run.id for run in reversed(held)]
    near = [run.id for run in reversed(matching)] or difflib.get_close_matches(name, ids, 5) or ids[:5]
    what = f"{len(matching)} runs that begin so" if matching else "no such run" if held else "no run at all"
    return refusal(
        subject=f'run "{name}"',
        expected=f'"{LAST}", an id, the beginning of one, or a run folder (in {folder})',
        saw=f"{what}; near: {', '.join(near[:8])}" if near else what,
        means="Nothing was read.",
        action='Run "affidavit ls".' if held else 'Run "affidavit run -- COMMAND" first.',
        unaffected="the runs that are there",
    )
