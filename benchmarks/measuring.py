"""What every benchmark shares: where its results go, and on what they were measured."""

from __future__ import annotations

import compileall
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from covers import claim_of, covers

import affidavit

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
SITE = ROOT / "src/affidavit/attach/site"
PACKAGES = ("torch", "transformers", "trl", "peft")

# As pip leaves what it installs: a checkout in which nobody may write byte code would be compiled by each command anew.
compileall.compile_dir(ROOT / "src", quiet=1)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one process and all that it waited for cost: wall and CPU seconds, and the largest resident set in bytes."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


def spend(argv: Sequence[str], environment: Mapping[str, str], *, cwd: Path, codes: Sequence[int] = (0,)) -> Spent:
    """Return what a command cost, once it has ended well, which is with one of these exit codes.

    Raises:
        RuntimeError: it ended with another one; what failed was not measured.
    """
    began = time.monotonic()
    process = subprocess.Popen(argv, env=environment, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise RuntimeError(f"{argv}: exit code {process.returncode}: {os.fsdecode(said[-2000:])}")
    return Spent(
        wall_seconds=time.monotonic() - began,
        cpu_seconds=used.ru_utime + used.ru_stime,
        peak_bytes=used.ru_maxrss * 1024,
    )


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def write(name: str, *, promised: Mapping[str, float], found: Mapping[str, float], raw: object) -> int:
    """Write a result with its raw values and say it; return 1 where a promise is broken, else 0.

    Each number is a measurement of this repository as well, that its pages can claim.
    """
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    result = {
        "name": name,
        "measured": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()},
        "python": platform.python_version(),
        "packages": {package: version(package) for package in PACKAGES},
        "promised": dict(promised),
        "found": dict(found),
        "raw": raw,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    for key, value in found.items():
        claim, unit = claim_of(name, key)
        note = f"{key} of benchmarks/results/{name}.json"
        affidavit.measurement(claim, value, unit=unit, covers=covers(name), note=note, project=ROOT)
    broken = [key for key, most in promised.items() if found[key] > most]
    for key, value in found.items():
        sys.stdout.write(
            f"{name}: {key} {value:.4g} (at most {promised[key]:.4g})\n"
            if key in promised
            else f"{name}: {key} {value:.4g}\n"
        )
    return 1 if broken else 0
