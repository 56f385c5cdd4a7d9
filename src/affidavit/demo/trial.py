"""One run of the demonstration: where it happens, how it ends, and what both records say of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from affidavit.check.finding import Verdict
from affidavit.demo.ordinary import Left
from affidavit.demo.planted import SCRIPTS, Edit, Fault
from affidavit.fact.errors import AffidavitError, refusal

PRINTED, LOG = "printed.txt", "log.txt"


class DemoError(AffidavitError):
    """The demonstration cannot be given here."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a planted fault: what both records say of it, or why there is nothing to say."""

    files: tuple[str, ...] = ()
    findings: tuple[dict[str, str], ...] = ()
    problem: str = ""

    def has_found(self, fault: Fault) -> bool:
        named = (fault.check, fault.says.value)
        return any((found["check"], found["verdict"]) == named for found in self.findings)


def committed_project(place: Path) -> Path:
    """Make a repository in which every script is committed."""
    project = place / "project"
    try:
        shutil.copytree(SCRIPTS, project, ignore=shutil.ignore_patterns("__pycache__"))
    except FileExistsError as error:
        raise DemoError(
            refusal(
                subject=f"--keep {place}",
                expected="a folder without a project in it",
                saw=f"{project}",
                means="The demo writes over nothing.",
                action="Name another folder, or remove that one.",
                unaffected="everything in it",
            )
        ) from error
    author = ("-c", "user.name=Affidavit", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "."), (*author, "commit", "--quiet", "-m", "The demo as it ships")):
        subprocess.run(["git", *words], cwd=project, check=True, stdin=subprocess.DEVNULL)
    return project


def affidavit(*words: str) -> list[str]:
    return [sys.executable, "-m", "affidavit.cli", *words]


def environment_of(fault: Fault | None = None) -> dict[str, str]:
    """Return the environment of a run: its record lies in its own project, and it does not fight for cores.

    Threads that spin while they wait make a training several times as long where another process has work, too.
    """
    environment = {name: value for name, value in os.environ.items() if name != "AFFIDAVIT_DIR"}
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return environment | ({"OMP_NUM_THREADS": "1", **fault.environment} if fault else {})


def run(command: list[str], project: Path, folder: Path, environment: dict[str, str]) -> int:
    """Run a command, keep what it prints and its log apart, and return its exit code."""
    with (folder / PRINTED).open("ab") as printed, (folder / LOG).open("ab") as log:
        return subprocess.run(
            command,
            cwd=project,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=log,
        ).returncode


def outcome_of(committed: Path, folder: Path, fault: Fault) -> Outcome:
    """Run one planted fault in a copy of the project, and read what both records say of it."""
    folder.mkdir()
    project = folder / "project"
    shutil.copytree(committed, project, ignore=shutil.ignore_patterns(".affidavit", "__pycache__"))
    left = Left(project=project, script=project / fault.script, trained=folder / "trained", printed=folder / PRINTED)
    script = [sys.executable, fault.script, str(folder)]
    environment = environment_of(fault)
    runs = [(affidavit("run", "--", *script), 0)]
    if fault.edit is not None:
        _edit(project, fault.edit)
        runs = [(script, 0), (affidavit("run", "--", *script), 1)]
    for command, expected in runs:
        code = run(command, project, folder, environment)
        if code != expected:
            return Outcome(problem=f"ended with exit code {code}, not {expected}")
    told = subprocess.run(affidavit("show", "--json"), cwd=project, check=False, capture_output=True, env=environment)
    try:
        findings = json.loads(told.stdout)["findings"]
    except (ValueError, KeyError):
        return Outcome(problem=f"it left no record: {os.fsdecode(told.stderr).strip()}")
    try:
        files = tuple(fault.files(left))
    except (OSError, ValueError, LookupError) as error:
        return Outcome(problem=f"what it saved cannot be read: {type(error).__name__}: {error}")
    loud = (Verdict.FAIL.value, Verdict.REVIEW.value)
    return Outcome(
        files=files,
        findings=tuple(found for found in findings if found["verdict"] in loud and found["cause"] is None),
    )


def _edit(project: Path, edit: Edit) -> None:
    path = project / edit.file
    text = path.read_text()
    if text.count(edit.old) != 1:
        raise DemoError(f"demo: expected {edit.old!r} once in {edit.file}, saw it {text.count(edit.old)} times.")
    path.write_text(text.replace(edit.old, edit.new))


def report_of(project: Path, path: Path) -> Path:
    """Write the last run of a project as one HTML file."""
    command = affidavit("report", "last", "--output", str(path))
    told = subprocess.run(command, cwd=project, check=False, capture_output=True, env=environment_of())
    if told.returncode or not path.is_file():
        saw = os.fsdecode(told.stderr).strip() or f"exit code {told.returncode}"
        raise DemoError(f"demo: expected a report in {path}, saw {saw}")
    return path
