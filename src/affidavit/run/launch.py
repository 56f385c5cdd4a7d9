"""Prepares an attempt: its run, its folders, and the environment in which the command will be seen."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit import attach
from affidavit.attach.launch import CANARY_SECONDS, VARIABLE, Launch, Plugin
from affidavit.attach.redact import redact_arguments
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record.key import PASSWORD
from affidavit.record.record import Fact, Kind
from affidavit.record.runs import home
from affidavit.run import attempt as attempts
from affidavit.run.attempt import Start
from affidavit.run.command import Command
from affidavit.run.place import place
from affidavit.run.process import myself
from affidavit.run.scheduler import scheduler
from affidavit.run.spool import open_spool, publish
from affidavit.run.tree import described

SITE = Path(attach.__file__).parent / "site"
"""The folder that PYTHONPATH gets in front; it holds one file."""


class RunFolderError(AffidavitError):
    """The folder for the run cannot be made or written."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """An attempt that has its folders and has not started yet."""

    start: Start
    folder: Path
    spool: Path
    command: Command
    environment: Mapping[str, str]

    @property
    def snapshot_name(self) -> str:
        """What a snapshot of the tree is called by; each attempt may need its own."""
        start = self.start
        return start.run if (start.number, start.task) == (0, 0) else f"{start.run}-{start.number}-{start.task}"

    def state(self, facts: Sequence[Fact]) -> None:
        """Keep what was found before the command starts: the seal puts it into the record, a mark names the commit."""
        attempts.write_facts(self.folder, self.start, facts)
        path = names.launch(self.spool, self.start.number)
        commit, tree = described(facts)
        replace(Launch.read(path), commit=commit, tree=tree).write(path)


def prepare(
    command: Command,
    *,
    project: Path,
    environment: Mapping[str, str],
    recipe: str = "",
    kind: Kind = Kind.RUN,
    steps: int = 2,
    tokens: str = "text",
    marks: bool = True,
    canary_seconds: float = CANARY_SECONDS,
    plugins: tuple[Plugin, ...] = (),
) -> Prepared:
    """Return an attempt whose run folder, spool and launch file exist.

    Args:
        project: its folder of runs is made where it is missing, and hidden from git.
        environment: of the command; the returned one differs in PYTHONPATH and in the name of the launch file.
        kind: RUN or REHEARSAL; a rehearsal ends itself at optimizer step ``steps``.
        tokens: ``off``, ``ids`` or ``text``.
        marks: whether a mark is left beside each model that is saved.
        canary_seconds: how long the run may wait while rows out of its caches are recomputed.

    Raises:
        RunFolderError: the run folder cannot be written.
        SpoolError: no place on this node holds a private folder of ours.
    """
    runs = home(project, environment) / "runs"
    job = scheduler(environment)
    wanted = Start(
        run="",
        number=0,
        task=job.task,
        kind=kind,
        recipe=recipe or command.recipe,
        command=tuple(map(_legible, redact_arguments(command.argv))),
        cwd=_legible(str(command.cwd)),
        project=_legible(str(project)),
        spool="",
        supervisor=myself(),
        scheduler=job,
        started=attempts.now(),
    )
    try:
        hide(runs)
        start = _claim(runs, wanted)
    except OSError as error:
        raise _unwritable(runs, error) from error
    launch = Launch(
        run=start.run,
        folder=str(runs / start.run),
        spool=start.spool,
        attempt=start.number,
        mode="rehearsal" if kind is Kind.REHEARSAL else "run",
        rehearsal_steps=steps,
        tokens=tokens,
        project=str(project),
        marks=marks,
        canary_seconds=canary_seconds,
        recipe=start.recipe,
        plugins=plugins,
    )
    path = names.launch(Path(start.spool), start.number)
    launch.write(path)
    publish(Path(start.spool), runs / start.run)
    return Prepared(
        start=start,
        folder=runs / start.run,
        spool=Path(start.spool),
        command=command,
        environment=_watched(environment, path),
    )


def _watched(environment: Mapping[str, str], launch: Path) -> dict[str, str]:
    """Return the environment in which every Python finds our shadow folder first, and through it the launch file.

    What opens our signing key stays with whoever seals: a training script and all that it starts have no use for it.
    """
    inherited = environment.get("PYTHONPATH", "")
    path = f"{SITE}{os.pathsep}{inherited}" if inherited else str(SITE)
    passed = {name: value for name, value in environment.items() if name != PASSWORD}
    return {**passed, "PYTHONPATH": path, VARIABLE: str(launch)}


def _claim(runs: Path, wanted: Start) -> Start:
    """Return the start with its run and number, once its attempt file is ours alone."""
    while True:
        where = place(runs, wanted)
        spool = open_spool(where.run, where.number)
        start = replace(wanted, run=where.run, number=where.number, spool=str(spool))
        (runs / where.run).mkdir(parents=True, exist_ok=True)
        if attempts.claim(runs / where.run, start):
            return start


def hide(folder: Path) -> None:
    """Make a folder of ours, and let git not see it; a folder that is not ours alone gets no file of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = (folder.parent if folder.parent.name == ".affidavit" else folder) / ".gitignore"
    if not marker.exists():
        marker.write_text("*\n")


def _legible(text: str) -> str:
    """Return text that JSON can hold; a word of a command line may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _unwritable(runs: Path, error: OSError) -> RunFolderError:
    return RunFolderError(
        refusal(
            subject=f"run folder {runs}",
            expected="a folder that can be written",
            saw=f"{type(error).__name__}: {error.strerror or error}",
            means="There is no place for the record of this run, so the command was not started.",
            action="Free some room, or set AFFIDAVIT_DIR to a folder of yours and start it again.",
            unaffected="the project and every earlier run",
        )
    )
