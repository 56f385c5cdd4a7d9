"""What the rules for gates see: eighteen scripts with known answers, beside shellcheck, and public code.

python benchmarks/gate_lint.py [--checkouts FOLDER] [--shellcheck PROGRAM]

Sixteen of the scripts in gates/ cannot say no, two can. Checkouts lie as FOLDER/<owner>+<name>, a work tree, a bare
repository, or one in a folder "repo". Every finding in them was read on the day of the result, but for trainings lost
in a pipe, of which the pipes were listed and the doubtful read; those that were false stand in FALSE, by place.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from measuring import write

from affidavit.lint.gates import read_gates

SCRIPTS = Path(__file__).with_name("gates")
CAUSES: Final = {
    "01": "self-matching-probe",
    "02": "self-matching-probe",
    "03": "status-lost-in-pipe",
    "04": "status-or-true",
    "05": "status-masked-by-declaration",
    "06": "errexit-off-inside",
    "07": "count-of-count",
    "08": "pid-of-pipeline",
    "09": "self-matching-probe",
    "10": "heartbeat-exists",
    "11": "test-always-true",
    "12": "status-of-echo",
    "13": "left-of-and",
    "14": "no-test-is-fine",
    "16": "gpu-as-liveness",
    "17": "git-diff-as-clean",
}
"""The true cause by the number of a script; 15 and 18 can say no."""
CODES: Final = {
    "03": {2312},
    "05": {2155},
    "06": {2310},
    "11": {2070, 2071},
    "12": {2181, 2320},
}
"""The codes of shellcheck that name the true cause; for the others it says nothing, or another thing."""
FALSE: Final = frozenset({("astral-sh/ruff", ".github/workflows/ci.yaml", "status-or-true")})
"""Findings that are false: repository, path, rule. That step only writes notes, and says that its no is not wanted."""
READ: Final = re.compile(
    r"\.(?:sh|bash|slurm|sbatch|mk)$|(?:^|/)(?:Makefile|GNUmakefile|crontab|[^/]*Dockerfile[^/]*)$"
    r"|\.github/.*\.ya?ml$|\.gitlab-ci\.yml$"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, default=None, metavar="FOLDER")
    parser.add_argument("--shellcheck", default="", metavar="PROGRAM")
    told = parser.parse_args()
    scripts = [_script(path, told.shellcheck) for path in sorted(SCRIPTS.glob("*.sh"))]
    repositories = [_repository(place) for place in sorted(told.checkouts.iterdir())] if told.checkouts else []
    repositories = [one for one in repositories if one["files"]]
    inert = [one for one in scripts if one["cause"]]
    found: dict[str, float] = {
        "missed": sum(one["cause"] not in one["rules"] for one in inert),
        "alarms_on_controls": sum(len(one["rules"]) for one in scripts if not one["cause"]),
        "false": sum(one["false"] for one in repositories),
        "scripts_inert": len(inert),
        "shellcheck_default": sum(one["shellcheck"] for one in inert),
        "shellcheck_all": sum(one["shellcheck_all"] for one in inert),
        "repositories": len(repositories),
    }
    for key in ("files", "gates", "alarms", "proved", "likely"):
        found[key] = sum(one[key] for one in repositories)
    seconds = sum(one["cpu_seconds"] for one in repositories)
    found["cpu_seconds_of_500_files"] = 500 * seconds / found["files"] if found["files"] else 0.0
    promised = {"missed": 0, "alarms_on_controls": 0, "false": 0, "cpu_seconds_of_500_files": 2}
    return write("gate_lint", promised=promised, found=found, raw={"scripts": scripts, "repositories": repositories})


def _script(path: Path, shellcheck: str) -> dict[str, Any]:
    number = path.name[:2]
    rules = sorted({one.rule.id for one in read_gates([path]).inert})
    said: dict[str, Any] = {"script": path.name, "cause": CAUSES.get(number, ""), "rules": rules}
    for name, options in (("shellcheck", ()), ("shellcheck_all", ("-o", "all"))):
        codes = _codes(shellcheck, path, options) if shellcheck else set()
        said[f"{name}_codes"] = sorted(codes)
        said[name] = bool(codes & CODES.get(number, set()))
    return said


def _codes(shellcheck: str, path: Path, options: tuple[str, ...]) -> set[int]:
    command = [shellcheck, "--norc", "-f", "json", *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {int(one["code"]) for one in json.loads(done.stdout)}


def _repository(place: Path) -> dict[str, Any]:
    checkout = place / "repo" if (place / "repo").is_dir() else place
    commit = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    listed = subprocess.run(["git", "-C", checkout, "ls-tree", "-rz", "--name-only", "HEAD"], capture_output=True)
    names = [name for name in listed.stdout.decode("utf-8", "replace").split("\0") if READ.search(name)]
    with tempfile.TemporaryDirectory(prefix="affidavit-") as scratch:
        folder = Path(scratch)
        for at in range(0, len(names), 200):
            command = ["git", "-C", checkout, "archive", "HEAD", "--", *names[at : at + 200]]
            packed = subprocess.run(command, capture_output=True, check=False).stdout
            if packed:
                with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                    archive.extractall(folder, filter="data")
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        began = time.process_time()
        reading = read_gates(files)
        spent = time.process_time() - began
        found = [
            {
                "path": one.path.relative_to(folder).as_posix(),
                "line": one.hit.line,
                "rule": one.rule.id,
                "known": "proved" if one.hit.is_sure else "likely",
            }
            for one in reading.inert
        ]
    name = place.name.replace("+", "/")
    return {
        "repository": name,
        "commit": commit.stdout.strip(),
        "files": len(files),
        "gates": reading.gates,
        "alarms": reading.alarms,
        "proved": sum(one["known"] == "proved" for one in found),
        "likely": sum(one["known"] == "likely" for one in found),
        "false": sum((name, one["path"], one["rule"]) in FALSE for one in found),
        "cpu_seconds": round(spent, 3),
        "findings": found,
    }


if __name__ == "__main__":
    sys.exit(main())
