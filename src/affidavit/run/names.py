"""Names before values, for one command: its files and configs as text, held against the Python that will run it.

Source: playbook §4.2 (a name that is gone is refused in seconds, and not after forty minutes of encoding).
Blind to: commands whose Python cannot be told: what a container, a remote shell or an environment manager starts.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Cause, Known
from affidavit.lint.catalogue import Catalogue
from affidavit.lint.facts import NAMES, facts, gate_facts, unread_facts
from affidavit.lint.files import sort
from affidavit.lint.gates import read_gates
from affidavit.lint.project import lint
from affidavit.record.fold import read_record
from affidavit.record.record import Fact
from affidavit.record.runs import home, runs
from affidavit.run.command import Command
from affidavit.run.launch import hide
from affidavit.run.reach import Reach

PACKAGES = "names.packages"
CHECK = "names-known"
"""The check that refuses a command before it starts, where ``[run] names`` says so."""
_ROWS = 40
_ELSEWHERE = frozenset(
    {
        *("docker", "podman", "singularity", "apptainer", "enroot", "kubectl", "ssh", "sky", "modal", "ray"),
        *("conda", "mamba", "micromamba", "uv", "uvx", "poetry", "pdm", "pixi", "hatch", "nix", "make"),
    }
)
"""Programs that train in another environment than the one they are started from."""


def names_facts(command: Command, reached: Reach, project: Path, *, keeps: bool = True) -> tuple[Fact, ...]:
    """Return what the files of a command say by name.

    Args:
        reached: the first-party files, and whose packages they are held against.
        project: the folder that paths are written from, where signatures are kept.
        keeps: whether a folder for them may be made; without it only one that is there is used.
    """
    starter = Path(command.argv[0]).name
    named = [command.cwd / word for word in command.argv[1:] if Path(word).suffix in (".sh", ".bash")]
    if starter in _ELSEWHERE:
        why = f"{starter} chooses the Python that trains, so its packages are not known beforehand"
        launchers = [path for path in named if path.is_file()]
        gates = gate_facts(read_gates(launchers, command.argv, command.cwd), project, most=_ROWS)
        return (*unread_facts(Cause.INSTRUMENT_FAILED, why, NAMES), *gates)
    files = sort([*reached.files, *command.configs, command.executable, *named])
    catalogue = Catalogue(reached.interpreter.sites, store_of(project, makes=keeps))
    found = lint(
        files,
        root=project,
        catalogue=catalogue,
        argv=command.argv,
        cwd=command.cwd,
        earlier=earlier_packages(project),
    )
    return facts(found, project, most=_ROWS)


def earlier_packages(project: Path) -> dict[str, str]:
    """Return the packages that the newest sealed run of a project stood on, with their versions.

    Blind to: runs that gave no names to anything.
    """
    for run in reversed(runs(project)):
        with suppress(AffidavitError):
            for fact in read_record(run.folder).find(PACKAGES) if run.is_sealed else ():
                if isinstance(fact.state, Known) and isinstance(fact.state.value, tuple) and fact.state.value:
                    return dict(text.rsplit(" ", 1) for text in fact.state.value if " " in text)
    return {}


def store_of(project: Path, *, makes: bool = True) -> Path | None:
    """Return where signatures are kept: with the runs of a project, hidden from git like them.

    Where nothing can be written nothing is kept, and they are read again each time. Without ``makes`` no folder is
    made, and there is a store only where one was made before.
    """
    folder = home(project) / "signatures"
    if not makes:
        return folder if folder.is_dir() else None
    with suppress(OSError):
        hide(folder)
    return folder
