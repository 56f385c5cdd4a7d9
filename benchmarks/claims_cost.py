"""What looking for old numbers costs in a repository of 20,000 text files, beside grep with the same expression.

python benchmarks/claims_cost.py [--rounds N]

The files are every n-th text file of the installed packages and of Python's own library, each a few kilobytes or
more, in a repository of git. ``scan`` is a whole process, from the interpreter's start to the last file: it lists what
git does not ignore, reads it, and looks for thirty old values of twelve dimensions. ``one`` looks for one old time.
``grep`` is grep -rP with the very expression that the scan sieves by, and finds lines only.
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

import tomllib
from claims_silence import LIST, measured
from measuring import median, spend, write

from affidavit.claims.copies import formers
from affidavit.claims.copies.sieve import Sieve

FILES = 20_000
SUFFIXES = (".py", ".pyi", ".md", ".rst", ".txt", ".yaml", ".toml", ".sh", ".cfg", ".json", ".h", ".css", ".js")
SCAN = r"""
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import tomllib
from claims_silence import LIST, measured
from affidavit.claims.copies import copies, formers
from affidavit.claims.sheet import below
claims = tomllib.loads(LIST.read_text())["claim"][: int(sys.argv[2])]
print(len(copies(formers(measured(claims)), below(pathlib.Path(".")))))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    claims = tomllib.loads(LIST.read_text())["claim"]
    expression = Sieve({one.value.dimension for one in formers(measured(claims))}).expressions[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "repository"
        files, size = lay_out(folder)
        scan = [sys.executable, "-P", "-c", SCAN, str(Path(__file__).resolve().parent)]
        commands = {
            "scan": [*scan, str(len(claims))],
            "one": [*scan, "1"],
            "grep": ["grep", "-rPa", "--exclude-dir=.git", "-e", os.fsdecode(expression), "."],
        }
        environment = {**os.environ, "LC_ALL": "C"}
        spent: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
        for _ in range(asked.rounds):
            for name, command in commands.items():
                spent[name].append(vars(spend(command, environment, cwd=folder, codes=(0,))))
    found = {
        "files": float(files),
        "megabytes": size / 1e6,
        **{f"{name}_cpu_seconds": median([one["cpu_seconds"] for one in runs]) for name, runs in spent.items()},
    }
    return write("claims_cost", promised={"scan_cpu_seconds": 3.0}, found=found, raw=spent)


def lay_out(folder: Path) -> tuple[int, int]:
    """Copy the files, each under the path it has where it is installed; return how many they are, and their bytes."""
    roots = [Path(sysconfig.get_paths()[name]) for name in ("purelib", "stdlib")]
    found: dict[Path, Path] = {}
    for root in reversed(roots):
        for path in root.rglob("*"):
            if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
                found[path.relative_to(root)] = path
    names = sorted(found)
    chosen = [names[len(names) * place // FILES] for place in range(FILES)] if len(names) > FILES else names
    size = 0
    for name in chosen:
        copied = folder / name.as_posix().replace("site-packages", "packages").replace("__pycache__", "cached")
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found[name], copied)
        size += copied.stat().st_size
    for command in (["init", "-q", "."], ["add", "-A"]):
        subprocess.run(["git", "-c", "core.autocrlf=false", *command], cwd=folder, check=True, capture_output=True)
    return len(chosen), size


if __name__ == "__main__":
    sys.exit(main())
