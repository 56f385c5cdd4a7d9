"""What an interpreter pays that attaches and trains nothing: loader workers, compilers, trackers and every small tool.

python benchmarks/attach_cost.py [PAIRS]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from measuring import SITE, median, spend, write

from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names


def main(pairs: int = 60) -> int:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AFFIDAVIT"))}
    raw: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as place:
        launch = names.launch(Path(place), 0)
        Launch(run="b", folder=place, spool=place).write(launch)
        observed = {**bare, "PYTHONPATH": str(SITE), VARIABLE: str(launch)}
        command = [sys.executable, "-c", "pass"]
        for environment in (bare, observed):
            spend(command, environment, cwd=Path(place))
        for _ in range(pairs):
            spent = [spend(command, environment, cwd=Path(place)) for environment in (bare, observed)]
            raw.append({"bare_cpu_seconds": spent[0].cpu_seconds, "observed_cpu_seconds": spent[1].cpu_seconds})
    added = median([one["observed_cpu_seconds"] - one["bare_cpu_seconds"] for one in raw])
    return write(
        "attach_cost",
        promised={"added_cpu_milliseconds": 5.0},
        found={
            "bare_cpu_milliseconds": 1000 * median([one["bare_cpu_seconds"] for one in raw]),
            "added_cpu_milliseconds": 1000 * added,
        },
        raw=raw,
    )


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
