"""What our own commands cost before anything runs: ``affidavit --version`` in CPU, ``affidavit doctor`` on the clock.

python benchmarks/command_cost.py [ROUNDS]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from measuring import ROOT, median, spend, write


def main(rounds: int = 15) -> int:
    environment = dict(os.environ)
    affidavit = [str(Path(sys.executable).parent / "affidavit")]
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "version": [*affidavit, "--version"],
        "doctor": [*affidavit, "doctor", "--python", sys.executable],
    }
    spent: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            spent[name].append(vars(spend(command, environment, cwd=ROOT)))
    return write(
        "command_cost",
        promised={"version_cpu_seconds": 0.15, "doctor_wall_seconds": 2.0},
        found={
            "bare_cpu_seconds": median([one["cpu_seconds"] for one in spent["bare"]]),
            "version_cpu_seconds": median([one["cpu_seconds"] for one in spent["version"]]),
            "doctor_wall_seconds": median([one["wall_seconds"] for one in spent["doctor"]]),
        },
        raw=spent,
    )


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
