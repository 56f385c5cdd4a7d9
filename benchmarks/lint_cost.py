"""What ``affidavit lint`` costs on a folder of 2,000 Python files, beside a type checker on the same files.

python benchmarks/lint_cost.py [--pyrefly PROGRAM] [--rounds N]

The files are every n-th module of the installed frameworks: long ones, of which most name a framework, so a folder of
anybody's own costs less. Cold is the first call, that reads signatures; warm is every later one on files that did not
change; changed is one after a line was added to one of them, for which all are read again. That no framework is
imported is read from the interpreter's own list of imports.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from measuring import ROOT, median, spend, write

FILES = 2000
PACKAGES = ("accelerate", "datasets", "lightning", "peft", "torch", "transformers", "trl")
FRAMEWORKS = frozenset({*PACKAGES, "numpy", "pytorch_lightning", "tokenizers"})
ENDED = (0, 1, 4)
"""Its verdict on files that were taken out of their packages is not what is measured."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyrefly", default="", help="the type checker, where it is installed")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        size = lay_out(folder)
        environment = {**os.environ, "AFFIDAVIT_DIR": str(Path(scratch) / "kept")}
        lint = [str(Path(sys.executable).parent / "affidavit"), "lint", "--python", sys.executable, "."]
        cold = vars(spend(lint, environment, cwd=folder, codes=ENDED))
        spent: dict[str, list[dict[str, float]]] = {"bare": [], "lint": [], "changed": [], "pyrefly": []}
        commands = {"bare": [sys.executable, "-c", "pass"], "lint": lint, "changed": lint}
        changing = next(folder.rglob("training_args*.py"), next(folder.rglob("*.py")))
        if asked.pyrefly:
            search = f"--search-path={folder}"
            commands["pyrefly"] = [asked.pyrefly, "check", "--output-format", "json", search, "."]
        for _ in range(asked.rounds):
            for name, command in commands.items():
                if name == "changed":
                    changing.write_text(f"{changing.read_text()}\n# changed\n")
                spent[name].append(vars(spend(command, environment, cwd=folder, codes=ENDED)))
        imported = frameworks_imported(lint, environment, folder)
    found = {
        "files": float(FILES),
        "megabytes": size / 1e6,
        "frameworks_imported": float(len(imported)),
        "cold_cpu_seconds": cold["cpu_seconds"],
        **{f"{name}_cpu_seconds": median([one["cpu_seconds"] for one in runs]) for name, runs in spent.items() if runs},
    }
    raw = {"cold": cold, **spent, "imported": imported}
    return write("lint_cost", promised={"lint_cpu_seconds": 3.0, "frameworks_imported": 0.0}, found=found, raw=raw)


def lay_out(folder: Path) -> int:
    """Copy the files, each under the path it has in its package; return how many bytes they are."""
    site = Path(sysconfig.get_paths()["purelib"])
    files = sorted(path for package in PACKAGES for path in (site / package).rglob("*.py"))
    chosen = [files[len(files) * place // FILES] for place in range(FILES)]
    for path in chosen:
        copied = folder / path.relative_to(site)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copied)
    return sum(path.stat().st_size for path in chosen)


def frameworks_imported(lint: list[str], environment: dict[str, str], folder: Path) -> list[str]:
    """Return the frameworks that the command itself imported."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "affidavit.cli", *lint[1:]],
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.splitlines() if "import time:" in line}
    return sorted(names & FRAMEWORKS)


if __name__ == "__main__":
    sys.exit(main())
