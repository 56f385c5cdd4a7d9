"""How soon the first verdict is there, and how much later the first step comes for it: run and preflight against bare.

    python benchmarks/first_verdict.py [PAIRS]

The demo's script: TRL, and a model so tiny that what we add weighs more than it would. The first verdict is the last
line that stands on stderr before the command begins; the first step is told by a hook of torch that the same wrapper
puts on in every case. Cases follow one another in turn, so that a machine which slows down slows all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT, median, write

SCRIPTS = ROOT / "src/affidavit/demo/scripts"
SCRIPT = "user_turns_lit.py"
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
sys.argv = [{SCRIPT!r}, *sys.argv[1:]]
runpy.run_path({SCRIPT!r}, run_name="__main__")
"""
GATE = """
[[gate]]
name = "compiles"
command = "python -m py_compile user_turns_lit.py"
sabotage = "echo 'def (' >> user_turns_lit.py"
"""


def main(pairs: int = 3) -> int:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    cases: dict[str, list[dict[str, float]]] = {"bare": [], "run": [], "preflight": []}
    with tempfile.TemporaryDirectory(prefix="affidavit-first-verdict-") as place:
        project = Path(place) / "project"
        shutil.copytree(SCRIPTS, project, ignore=shutil.ignore_patterns("__pycache__"))
        (project / "timed.py").write_text(WRAPPER)
        (project / "affidavit.toml").write_text(GATE)
        who = ["-c", "user.name=b", "-c", "user.email=b@b"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "b"]):
            subprocess.run(["git", *words], cwd=project, check=True)
        script = [sys.executable, "timed.py"]
        ours = [sys.executable, "-m", "affidavit.cli"]
        for turn in range(-1, pairs):  # the first turn warms the disk and the signatures that are kept
            for name, before in (
                ("bare", []),
                ("run", [*ours, "run", "--"]),
                ("preflight", [*ours, "preflight", "--"]),
            ):
                told = _timed([*before, *script, f"{place}/{name}{turn}"], project, environment)
                cases[name] += [told] if turn >= 0 else []
    # The fastest of each: whatever else the machine does can only make a first step late, by far more than we do.
    steps = {name: min(one["step_seconds"] for one in told) for name, told in cases.items()}
    found = {
        "run_verdict_seconds": median([one["begun_seconds"] for one in cases["run"]]),
        "preflight_verdict_seconds": median([one["begun_seconds"] for one in cases["preflight"]]),
        "run_first_step_later_seconds": steps["run"] - steps["bare"],
        "run_first_step_later_fraction": steps["run"] / steps["bare"] - 1,
    }
    promised = {
        "run_verdict_seconds": 5.0,
        "preflight_verdict_seconds": 5.0,
        "run_first_step_later_fraction": 0.05,
    }
    return write("first_verdict", promised=promised, found=found, raw=cases)


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
