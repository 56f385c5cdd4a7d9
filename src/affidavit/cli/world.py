"""World sabotages: real scripts in which the fault happens, run under the true launcher and judged as any run."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.check.drill import Proof
from affidavit.check.finding import Finding, Verdict
from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.project import Project
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import runs
from affidavit.report.checklist import worst
from affidavit.report.statement import Statement
from affidavit.report.terminal import Span, Tone, line
from affidavit.run import attesting
from affidavit.run.proofs.observers import Contrast

FAULTS, TWINS = "fault*.py", "clean*.py"
_LAUNCH = re.compile(r"Run by `([^`]+)`")


class WorldError(AffidavitError):
    """A world cannot be run, so what its check says of it is not known."""


@dataclass(frozen=True, kw_only=True)
class World:
    """A folder with scripts that lie and twins that do not, named like the check that must tell them apart."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name.replace("_", "-")


def worlds(folder: Path) -> tuple[World, ...]:
    """Return the worlds below a folder.

    Raises:
        WorldError: there is none, or one that has no fault or no twin.
    """
    found = [World(folder=place) for place in sorted(folder.iterdir()) if any(place.glob(FAULTS))]
    lonely = [world.folder.name for world in found if not any(world.folder.glob(TWINS))]
    if not found or lonely:
        raise WorldError(
            refusal(
                subject=f"--world {folder}",
                expected=f"folders that hold a {FAULTS} and a {TWINS}",
                saw=f"no {TWINS} in {', '.join(lonely)}" if lonely else "none",
                means="A fault without its healthy twin proves nothing: a check that always fails would catch it.",
                action="Name the folder that holds them.",
                unaffected="the ledger, to which nothing was added",
            )
        )
    return tuple(found)


def run_world(project: Project, world: World, check: Check | None, python: str, contrast: Contrast) -> Iterator[Proof]:
    """Yield what the check said of every script of its world; of a folder without a check, what all of them said.

    What was known in each script goes into ``contrast``.

    Raises:
        WorldError: a script cannot be started, or does not end well.
    """
    told = {sabotage.expect for sabotage in check.sabotages} if check else {Verdict.FAIL}
    accused = told & {Verdict.FAIL, Verdict.REVIEW} or {Verdict.FAIL}
    for pattern, expected in ((FAULTS, accused), (TWINS, {Verdict.PASS})):
        for script in sorted(world.folder.glob(pattern)):
            if sys.stderr.isatty():
                page.show([line(Span(f"running {world.folder.name}/{script.name} …", Tone.FAINT))], sys.stderr)
            said = _judged(project, script, python)
            contrast.add(said.case.subject, is_fault=pattern == FAULTS)
            got = _verdict(said.findings, check)
            expect = got if got in expected else min(expected, key=list(Verdict).index)
            yield Proof(f"real script {world.folder.name}/{script.name}", expect, got)


def _verdict(findings: tuple[Finding, ...], check: Check | None) -> Verdict:
    """Return what one check says over all episodes; without a check, whether any of them accuses the run."""
    spoken = [finding for finding in findings if check is None or finding.check == check.id]
    if check is None:
        return Verdict.FAIL if worst(spoken) is Verdict.FAIL else Verdict.PASS
    return worst(spoken) if spoken else Verdict.UNKNOWN


def _judged(project: Project, script: Path, python: str) -> Statement:
    """Run a script under ``affidavit run``, in a folder of runs of its own, and return its judged record."""
    with tempfile.TemporaryDirectory(prefix="affidavit-world-") as place:
        environment = {**os.environ, runs.VARIABLE: place, attesting.VARIABLE: attesting.OFF}
        command = [sys.executable, "-m", "affidavit.cli", "run", "--tree", "allow", "--reason", "a drill", "--"]
        ended = subprocess.run(
            [*command, *_command(script, python), str(Path(place) / "output")],
            cwd=project.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if ended.returncode:
            tail = os.fsdecode(ended.stdout[-600:]).strip()
            raise WorldError(
                refusal(
                    subject=f"{script}",
                    expected="a script that ends with exit code 0, as a lie does",
                    saw=f"{ended.returncode}, and at its end: {tail}",
                    means="What its check says of it is not known.",
                    action=f'Run it alone: "{shlex.join(_command(script, python))}".',
                    unaffected="the ledger, to which nothing was added",
                )
            )
        return judged(project, runs.find(project.root, runs.LAST, environment))


def _command(script: Path, python: str) -> list[str]:
    """Return how a script is started: with Python, or as its docstring says (``Run by `torchrun … fault.py```)."""
    interpreter = shutil.which(python)
    if interpreter is None:
        raise WorldError(
            f"python {python!r}: expected an interpreter (--python), saw none. Name it with --python PATH."
        )
    said = _LAUNCH.search(ast.get_docstring(ast.parse(script.read_text())) or "")
    if said is None:
        return [interpreter, str(script.resolve())]
    program, *words = shlex.split(said[1])
    beside = Path(interpreter).parent / program
    return [str(beside) if beside.is_file() else program] + [
        str(script.resolve()) if word == script.name else word for word in words
    ]
