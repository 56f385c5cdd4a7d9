"""What ``affidavit run`` adds to a real fine-tuning from exec to exit: SmolLM2-135M, LoRA, everything on.

python benchmarks/run_cost.py [PAIRS] [STEPS]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import ROOT, median, spend, write

SCRIPTS = ROOT / "src/affidavit/demo/scripts"
MEGABYTE = 1 << 20


def main(pairs: int = 3, steps: int = 20) -> int:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    raw: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "project"
        shutil.copytree(SCRIPTS, project, ignore=shutil.ignore_patterns("__pycache__"))
        for words in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "b"],
        ):
            subprocess.run(["git", *words], cwd=project, check=True)
        script = [sys.executable, "smollm2_lora.py", "--steps", str(steps), "--output"]
        affidavit = [sys.executable, "-m", "affidavit.cli", "run", "--"]
        spend([*script, f"{place}/warm"], environment, cwd=project)
        for pair in range(pairs):
            bare = spend([*script, f"{place}/bare{pair}"], environment, cwd=project)
            observed = spend([*affidavit, *script, f"{place}/observed{pair}"], environment, cwd=project)
            raw.append({"bare": vars(bare), "observed": vars(observed)})
    added = {
        key: median([one["observed"][key] - one["bare"][key] for one in raw])  # type: ignore[index]
        for key in ("wall_seconds", "cpu_seconds", "peak_bytes")
    }
    bare_wall = median([one["bare"]["wall_seconds"] for one in raw])  # type: ignore[index]
    return write(
        "run_cost",
        promised={"added_wall_seconds": max(15.0, 0.01 * bare_wall), "added_peak_megabytes": 150.0},
        found={
            "bare_wall_seconds": bare_wall,
            "added_wall_seconds": added["wall_seconds"],
            "added_cpu_seconds": added["cpu_seconds"],
            "added_peak_megabytes": added["peak_bytes"] / MEGABYTE,
        },
        raw=raw,
    )


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
