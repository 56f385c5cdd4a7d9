"""What a number was measured with: the commit and whether it describes what ran, the packages, the run of ours.

Source: playbook §4.4, §4.7.
Blind to: what a shell script starts; the files of a command that has no Python; a run of somebody else's that began and
ended while a command was measured that names no run.
"""

from __future__ import annotations

import hashlib
import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.attach.launch import VARIABLE, Launch
from affidavit.attach.redact import redact_arguments
from affidavit.fact.errors import AffidavitError
from affidavit.observe import git
from affidavit.observe.code import identify
from affidavit.observe.distribution import Distribution, read_site
from affidavit.observe.error import ObserveError
from affidavit.observe.identity import LoadedFile
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.tree import TreeReport, TreeState, examine
from affidavit.record.measurement import AS_COMMITTED, CHANGED, NO_REPOSITORY
from affidavit.record.runs import runs
from affidavit.run.attempt import Told, read_attempts

NAMED = frozenset(
    {
        *("torch", "triton", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers", "safetensors"),
        *("numpy", "flash-attn", "xformers", "bitsandbytes", "deepspeed", "liger-kernel", "unsloth", "vllm"),
        *("lightning", "pytorch-lightning", "torchao", "torchtitan", "jax", "jaxlib", "tensorflow", "affidavit"),
    }
)
"""Packages that are told by name; a digest stands for the others, so that a line stays one line."""


def told_command(argv: Iterable[str], project: Path) -> tuple[str, ...]:
    """Return a command line as it may be committed: no secret, no path of this machine that means nothing elsewhere."""
    here, home = f"{project.resolve()}/", f"{Path.home()}/"
    return tuple(word.replace(here, "").replace(home, "~/") for word in redact_arguments(argv))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The commit that the project stands on, and whether it describes what was measured; "" where git would not say."""

    commit: str
    tree: str


def standing(files: Iterable[Path], project: Path, interpreter: Interpreter) -> Standing:
    """Return how the files that are measured stand to the commit; without any, how the whole tree does."""
    code = identify([LoadedFile(path=path) for path in dict.fromkeys(files)], interpreter)
    report = examine(code, project)
    if report.state is TreeState.NO_REPOSITORY:
        return Standing(commit="", tree=NO_REPOSITORY)
    if report.stamp is not None:
        return Standing(commit=report.stamp.commit, tree=_held(report))
    return Standing(commit=(report.home.commit or "") if report.home else "", tree=_held(report) if report.home else "")


def _held(report: TreeReport) -> str:
    if report.state is TreeState.UNBORN or report.sites or report.moved:
        return CHANGED
    if report.undetermined or report.refusals or (report.home is not None and report.home.status is None):
        return ""
    if report.examined == 0:  # nothing says which files ran, so any that changed may have
        return CHANGED if report.benign else AS_COMMITTED
    return AS_COMMITTED


def is_ignored(path: Path) -> bool:
    """Say whether git keeps a file out of the repository, so that nobody else will ever have what is written there."""
    literal = {"GIT_LITERAL_PATHSPECS": "0"}  # with them this question is refused
    try:
        return bool(git.ask(path.parent, "check-ignore", "--", path.name, extra=literal, accept=(0, 1)).stdout)
    except ObserveError:
        return False


def packages(interpreter: Interpreter) -> dict[str, str]:
    """Return the version of the interpreter and of what measurements hang on, and a digest for all the rest."""
    found: dict[str, str] = {}
    for folder in interpreter.sites:
        try:
            owners = {line.owner for line in read_site(folder).listed.values()} | _unlisted(folder)
        except OSError:
            continue
        for owner in sorted(owners, key=lambda one: one.name):
            found.setdefault(owner.name, owner.version)
    named = {name: version for name, version in found.items() if name in NAMED and version}
    others = sorted(f"{name}=={version}" for name, version in found.items() if name not in NAMED)
    python = next(
        (name.removeprefix("python") for path in interpreter.stdlib if (name := path.name)[-1:].isdigit()), ""
    )
    said = {"python": python, **named}
    if others:
        digest = hashlib.sha256("\n".join(others).encode("utf-8", "backslashreplace")).hexdigest()
        said["others"] = f"{len(others)} packages, sha256:{digest[:16]}"
    return {name: text for name, text in said.items() if text and name.isascii()}


def _unlisted(folder: Path) -> set[Distribution]:
    return set(read_site(folder).top_level.values())


def this_interpreter() -> Interpreter:
    """Return the environment of this very process."""
    paths = sysconfig.get_paths()
    found = (
        paths["purelib"],
        paths["platlib"],
        *site.getsitepackages(),
        *(path for path in sys.path if "-packages" in path),
    )
    return Interpreter.from_paths(
        prefix=sys.prefix, base_prefix=sys.base_prefix, sites=found, stdlib=(paths["stdlib"], paths["platstdlib"])
    )


def run_around(environment: Mapping[str, str] = os.environ) -> str:
    """Return the id of the run of ours that this process belongs to, or ""."""
    path = environment.get(VARIABLE, "")
    try:
        return Launch.read(Path(path)).run if path else ""
    except (AffidavitError, OSError, json.JSONDecodeError):
        return ""


def known_runs(project: Path) -> frozenset[str]:
    return frozenset(run.id for run in runs(project))


def run_since(before: frozenset[str], project: Path, argv: Sequence[str]) -> str:
    """Return the run that a command began, the last where there are several; "" where it began none.

    That is one of the command that stands in its words. A script may begin one, too, of another command: one that has
    come to its end, as the script has. A run that still goes on is somebody else's.
    """
    new = [run for run in runs(project) if run.id not in before]
    told = {run.id: _attempts(run.folder) for run in new}
    asked = [name for name, attempts in told.items() if any(_holds(argv, one.start.command) for one in attempts)]
    over = [name for name, attempts in told.items() if all(one.ended is not None for one in attempts)]
    return next(reversed(asked or over), "")


def _attempts(folder: Path) -> tuple[Told, ...]:
    try:
        return read_attempts(folder)
    except AffidavitError:
        return ()


def _holds(words: Sequence[str], inner: Sequence[str]) -> bool:
    size = len(inner)
    return bool(inner) and any(tuple(words[at : at + size]) == tuple(inner) for at in range(len(words) - size + 1))
