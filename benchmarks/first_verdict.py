"""How soon the first verdict is there, and how much later the first step comes for it: run and preflight against bare.

    python benchmarks/first_verdict.py [PAIRS]

Two scripts of the demo: TRL on a model so tiny that what we add weighs more than it would, which says how many seconds
that is, and SmolLM2 with its own weights, which says what share of a real start. It trains as many steps as it takes to
sample one that is not the first: of a training of one step, that one is. The first verdict is the last line that stands
on stderr before the command begins; the first step is told by a hook of torch that the same wrapper puts on in every
case. Cases follow one another in turn, so that a machine which slows down slows all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from measuring import ROOT, median, write

from affidavit.attach.session import SAMPLED_STEP

SCRIPTS = ROOT / "src/affidavit/demo/scripts"
TINY, REAL = "user_turns_lit.py", "smollm2_lora.py"
BEGUN, STEPPED = "the script begins", "the first step is done"
WRAPPER = f"""
import runpy, sys
print({BEGUN!r}, flush=True)
from torch.optim.optimizer import register_optimizer_step_post_hook
said = []
def tell(*_):
    if not said:
        said.append(print({STEPPED!r}, flush=True))
register_optimizer_step_post_hook(tell)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
GATE = """
[[gate]]
name = "compiles"
command = "python -m py_compile user_turns_lit.py"
sabotage = "echo 'def (' >> user_turns_lit.py"
"""


def main(pairs: int = 3) -> int:
    with tempfile.TemporaryDirectory(prefix="affidavit-first-verdict-") as place:
        project = Path(place) / "project"
        shutil.copytree(SCRIPTS, project, ignore=shutil.ignore_patterns("__pycache__"))
        (project / "timed.py").write_text(WRAPPER)
        (project / "affidavit.toml").write_text(GATE)
        who = ["-c", "user.name=b", "-c", "user.email=b@b"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "b"]):
            subprocess.run(["git", *words], cwd=project, check=True)
        tiny = _in_turn(project, ("bare", "run", "preflight"), pairs, lambda folder: [TINY, str(folder)])
        steps = ["--steps", str(SAMPLED_STEP), "--output"]
        real = _in_turn(project, ("bare", "run"), pairs, lambda folder: [REAL, *steps, str(folder)])
    later, of_tiny = _later(tiny)
    real_later, of_real = _later(real)
    found = {
        "run_verdict_seconds": median([one["begun_seconds"] for one in tiny["run"]]),
        "preflight_verdict_seconds": median([one["begun_seconds"] for one in tiny["preflight"]]),
        "run_first_step_later_seconds": later,
        "run_first_step_later_fraction": of_tiny,
        "real_first_step_later_seconds": real_later,
        "real_first_step_later_fraction": of_real,
    }
    promised = {
        "run_verdict_seconds": 5.0,
        "preflight_verdict_seconds": 5.0,
        "real_first_step_later_fraction": 0.05,
    }
    return write("first_verdict", promised=promised, found=found, raw={"tiny": tiny, "real": real})


def _in_turn(
    project: Path, cases: Sequence[str], pairs: int, argv: Callable[[Path], list[str]]
) -> dict[str, list[dict[str, float]]]:
    """Return what each case was timed at; a turn before the first warms the disk and the signatures that are kept."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    before = {name: [] if name == "bare" else [sys.executable, "-m", "affidavit.cli", name, "--"] for name in cases}
    timed: dict[str, list[dict[str, float]]] = {name: [] for name in cases}
    for turn in range(-1, pairs):
        for name in cases:
            script = argv(project.parent / f"{name}{turn}")
            told = _timed([*before[name], sys.executable, "timed.py", *script], project, environment)
            shutil.rmtree(project.parent / f"{name}{turn}", ignore_errors=True)
            timed[name] += [told] if turn >= 0 else []
    return timed


def _later(timed: Mapping[str, Sequence[Mapping[str, float]]]) -> tuple[float, float]:
    """Return how much later the first step of `run` comes, in seconds and of bare; by the fastest of each, because
    whatever else the machine does can only make a first step late, by far more than we do."""
    bare, run = (min(one["step_seconds"] for one in timed[name]) for name in ("bare", "run"))
    return run - bare, run / bare - 1


def _timed(argv: list[str], project: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return after how many seconds the script began, by when the first verdict stands, and its first step was done.

    Raises:
        RuntimeError: it ended without either.
    """
    began = time.monotonic()
    at: dict[str, float] = {}
    with subprocess.Popen(
        argv, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for row in process.stdout:
            at.setdefault(row.strip(), time.monotonic() - began)
    if BEGUN not in at or STEPPED not in at:
        raise RuntimeError(f"{argv}: exit code {process.returncode}, and it said {[*at]}")
    return {"begun_seconds": at[BEGUN], "step_seconds": at[STEPPED]}


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
