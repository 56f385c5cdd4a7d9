"""What an environment lets us see, found by attaching to its Python for an instant and asking it."""

from __future__ import annotations

import contextlib
import enum
import json
import os
import pkgutil
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit import adapters
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.cli.project import Project, runs_folder
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe import git
from affidavit.observe.error import ObserveError
from affidavit.record.key import SHORT
from affidavit.record.key import exposed as exposed_key
from affidavit.record.lock import locked_recipes
from affidavit.run.launch import SITE
from affidavit.run.spool import NEEDED_BYTES, SHARED_MEMORY
from affidavit.settings import SettingsError

LIMIT_SECONDS = 20.0
_WITHOUT_ADAPTER = ("accelerate", "datasets", "lightning", "deepspeed", "unsloth", "axolotl", "ray")
"""Named because they are common: what they do is seen only through the frameworks that have an adapter."""

_QUESTION = """
import importlib.metadata as metadata, json, sys
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
told = {"python": list(sys.version_info[:3]), "versions": {name: version(name) for name in sys.argv[1:]}}
print(json.dumps(told))
"""


class PythonError(AffidavitError):
    """The training interpreter is not there, or did not answer."""


class Sight(enum.Enum):
    """Whether a part of the environment lets us see, lets us see less, or stops us."""

    CLEAR = "clear"
    LESS = "less"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """One thing that was looked at, and what it means for a run that is observed here."""

    about: str
    sight: Sight
    said: str


def symptoms(python: str, *, project: Project, environment: Mapping[str, str] = os.environ) -> Iterator[Symptom]:
    """Yield everything that decides what will be seen; no framework is imported by anybody.

    Args:
        python: the interpreter that trains, a path or a name on PATH.
        project: the one that would be trained in; its settings and its lock are read.

    Raises:
        PythonError: there is no such interpreter, or it does not answer.

    Blind to: what a container, a queue or ``env -i`` takes away between here and the training process.
    """
    runs = runs_folder(project.root)
    yield from _interpreter(python, environment)
    yield from _files(project)
    yield _folder("run folders", runs)
    yield _spool()
    yield _git(runs)
    yield from _seal(project)
    yield from _tracker(project)
    yield _stacks()


def _interpreter(python: str, environment: Mapping[str, str]) -> Iterator[Symptom]:
    path = shutil.which(python, path=environment.get("PATH"))
    if path is None:
        raise _silent(python, "no such program")
    known = tuple(found.name for found in pkgutil.iter_modules(adapters.__path__))
    with tempfile.TemporaryDirectory(prefix="affidavit-doctor-") as place:
        told = _ask(path, (*known, *_WITHOUT_ADAPTER), Path(place), environment)
        yield _attachment(path, told["python"], Path(place))
    versions = told["versions"]
    present = [name for name in known if versions[name]]
    for name in present:
        yield Symptom(about=name, sight=Sight.CLEAR, said=f"{versions[name]}, has an adapter")
    if not present:
        said = f"none of {', '.join(known)} is installed here: nothing that trains would be seen"
        yield Symptom(about="frameworks", sight=Sight.NONE, said=said)
    for name in _WITHOUT_ADAPTER:
        if versions[name]:
            said = f"{versions[name]}, seen only through those above"
            yield Symptom(about=name, sight=Sight.LESS, said=said)


def _ask(
    path: str, packages: tuple[str, ...], place: Path, environment: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Start the interpreter exactly as a run would start it, let it attach, and read what it says of itself."""
    launch = names.launch(place, 0)
    Launch(run="doctor", folder=str(place), spool=str(place), mode="probe", tokens="off").write(launch)
    inherited = environment.get("PYTHONPATH", "")
    seen = {
        **environment,
        VARIABLE: str(launch),
        "PYTHONPATH": f"{SITE}{os.pathsep}{inherited}" if inherited else str(SITE),
    }
    try:
        ended = subprocess.run(
            [path, "-c", _QUESTION, *packages],
            env=seen,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=True,
        )
        told: dict[str, dict[str, str]] = json.loads(ended.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        raise _silent(path, f"exit code {error.returncode}: {os.fsdecode(error.stderr[-300:])}") from error
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise _silent(path, f"{type(error).__name__}: {error}") from error
    return told


def _silent(python: str, saw: str) -> PythonError:
    return PythonError(
        refusal(
            subject=f"python {python!r}",
            expected="the interpreter that trains (--python)",
            saw=saw,
            means="Nobody can say what would attach.",
            action='Name it: "affidavit doctor --python PATH".',
            unaffected="everything; nothing was written",
        )
    )


def _attachment(path: str, version: object, place: Path) -> Symptom:
    text = ".".join(map(str, version)) if isinstance(version, list) else "?"
    refused = place / f"{names.HELLO}.refused"
    if refused.is_file():
        return Symptom(
            about="attaches", sight=Sight.NONE, said=f"{path} ({text}) refused: {refused.read_text().strip()}"
        )
    if not (place / names.HELLO).is_file():
        said = f"{path} ({text}) started without us: it ignores PYTHONPATH, or its own start-up code ends first"
        return Symptom(about="attaches", sight=Sight.NONE, said=said)
    return Symptom(about="attaches", sight=Sight.CLEAR, said=f"{path} ({text})")


def _files(project: Project) -> Iterator[Symptom]:
    """Say of each file that a run reads before anything else whether it can be read; one that is not there is fine."""
    asked: tuple[tuple[Path, Callable[[], object]], ...] = (
        (project.root / names.SETTINGS, lambda: project.settings),
        (project.lock_path, lambda: locked_recipes(project.lock_path)),
    )
    for path, read in asked:
        if not path.exists():
            continue
        try:
            read()
        except AffidavitError as error:
            yield Symptom(about=path.suffix[1:], sight=Sight.NONE, said=str(error).partition("\n")[0])
        else:
            yield Symptom(about=path.suffix[1:], sight=Sight.CLEAR, said=str(path))


def _folder(about: str, folder: Path) -> Symptom:
    """Say whether a folder can be written, or made, without making it."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        said = f"{folder} cannot be written: set AFFIDAVIT_DIR"
        return Symptom(about=about, sight=Sight.NONE, said=said)
    return Symptom(about=about, sight=Sight.CLEAR, said=str(folder))


def _spool() -> Symptom:
    """Say where the processes of a run would write."""
    try:
        room = os.statvfs(SHARED_MEMORY)
        free = room.f_bavail * room.f_frsize
    except OSError as error:
        free, why = 0, f"{SHARED_MEMORY}: {error.strerror}"
    else:
        why = f"{SHARED_MEMORY} has {free // 2**20:,} MiB free"
    if free >= NEEDED_BYTES and os.access(SHARED_MEMORY, os.W_OK):
        return Symptom(about="spool", sight=Sight.CLEAR, said=why)
    return Symptom(about="spool", sight=Sight.LESS, said=f"{why}; {tempfile.gettempdir()} is used, is it a local disk?")


def _git(runs: Path) -> Symptom:
    there = next(place for place in (runs, *runs.parents) if place.is_dir())
    try:
        version = git.ask(there, "version").text.removeprefix("git version ")
        top = git.ask(there, "rev-parse", "--show-toplevel").text
    except ObserveError as error:
        return Symptom(about="git", sight=Sight.LESS, said=str(error).partition("\n")[0])
    return Symptom(about="git", sight=Sight.CLEAR, said=f"{version}, repository {top}")


def _seal(project: Project) -> Iterator[Symptom]:
    """Say who would sign a seal, where the project asks for that; a witness needs what ``git`` says above."""
    try:
        signer = project.notary.signer()
    except SettingsError:
        return  # told with its file
    except AffidavitError as error:
        yield Symptom(about="seal", sight=Sight.LESS, said=f"unsigned: {str(error).partition(chr(10))[0]}")
        return
    if signer is not None:
        is_named = any(one.id == signer.id for one in project.notary.trust().keys)
        wrong = ("" if is_named else '"trusted" under [seal] does not name it', exposed_key(Path(signer.name)))
        said = "; ".join(filter(None, (f"signed with {signer.name} ({signer.id[:SHORT]})", *wrong)))
        yield Symptom(about="seal", sight=Sight.LESS if any(wrong) else Sight.CLEAR, said=said)


def _tracker(project: Project) -> Iterator[Symptom]:
    """Say which tracker would be told a seal, where the project asks for one: after days of training it is too late."""
    with contextlib.suppress(SettingsError):  # told with its file
        tracker = project.notary.tracker
        if tracker is not None:
            try:
                yield Symptom(about="tracker", sight=Sight.CLEAR, said=tracker.reach())
            except AffidavitError as error:
                yield Symptom(about="tracker", sight=Sight.LESS, said=f"no witness: {error}")


def _stacks() -> Symptom:
    """Say whether the stacks of a run that hangs could be read: in many containers they cannot."""
    try:
        scope = Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip()
    except OSError:
        scope = "0"
    if scope == "0" or (os.geteuid() == 0 and scope != "3"):
        return Symptom(about="ptrace", sight=Sight.CLEAR, said="the stacks of a run that hangs can be read")
    said = f"ptrace_scope is {scope}: the stacks of a run that hangs can be read by its parent or by root only"
    return Symptom(about="ptrace", sight=Sight.LESS, said=said)
