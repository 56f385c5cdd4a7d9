"""How long a stranger waits: from ``git clone`` over an empty environment to the first checklist of a real run.

    python benchmarks/first_screen.py

The clone comes from this working copy, so what a network adds to it is not in here; packages come over the network or
from pip's cache, as on any second machine of a team. The script that is run is the demo's: a tiny model, TRL, a loss
on the wrong words, which nothing but the screen tells.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT, write

SCRIPTS = "src/affidavit/demo/scripts"
SCRIPT = "user_turns_lit.py"
VERDICT = "FAIL     supervised-as-requested"
"""What makes the screen useful: the line that names the fault."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="affidavit-first-screen-") as place:
        clone, project = Path(place) / "clone", Path(place) / "project"
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        spent = {
            "clone_seconds": _spend(["git", "clone", "--quiet", str(ROOT), str(clone)], Path(place), environment),
            "install_seconds": _spend(["make", "venv", f"PYTHON={_base_python()}"], clone, environment),
        }
        shutil.copytree(clone / SCRIPTS, project)
        author = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "Train")):
            subprocess.run(["git", *words], cwd=project, env=environment, check=True)
        spent["run_seconds"] = _until_told(clone / ".venv/bin", project, environment)
    spent["all_seconds"] = sum(spent.values())
    return write("first_screen", promised={"all_seconds": 300.0}, found=spent, raw={"script": SCRIPT, "line": VERDICT})


def _base_python() -> str:
    """Return the interpreter that a new environment is made of: this one's own base."""
    return str(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")


def _spend(argv: list[str], cwd: Path, environment: dict[str, str]) -> float:
    began = time.monotonic()
    subprocess.run(argv, cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def _until_told(binaries: Path, project: Path, environment: dict[str, str]) -> float:
    """Return the seconds from the command to the line of the live screen that names the fault.

    Raises:
        RuntimeError: the command ended without it.
    """
    path = f"{binaries}{os.pathsep}{environment['PATH']}"
    began = time.monotonic()
    with subprocess.Popen(
        [str(binaries / "affidavit"), "run", "--", "python", SCRIPT, "out"],
        cwd=project,
        env={**environment, "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        told = 0.0
        for row in process.stderr:  # read to its end, so that the run is never blocked
            told = told or (time.monotonic() - began if row.startswith(VERDICT) else 0.0)
    if not told:
        raise RuntimeError(f"{SCRIPT} ended with {process.returncode}, and no line began with {VERDICT!r}")
    return told


if __name__ == "__main__":
    sys.exit(main())
