"""What a tracker says of runs that ended badly, beside what is sealed: MLflow's own state against ours.

python benchmarks/tracker_states.py --python .venv-tracker/bin/python

One script, five ends: it returns, raises, ``sys.exit(3)``, ``os._exit(1)``, and is killed. It starts its MLflow run as
the documentation does first, without a ``with`` block, and so does the twin in which there is one.

Source: mlflow/mlflow#3932, #5963 (a failed run is FINISHED, or RUNNING for ever).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import ROOT, write

SEALED = "import sys; from pathlib import Path; from affidavit.record.seal import read_sealed\n" + (
    "print(read_sealed(Path(sys.argv[1])).manifest.status.value)"
)
SCRIPT = ROOT / "tests/run/tracked.py"
ENDS = {"return": "FINISHED", "raise": "FAILED", "exit 3": "FAILED", "os._exit 1": "FAILED", "SIGKILL": "KILLED"}
"""How each end is to be called; MLflow has the same words."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True, help="An interpreter with mlflow.")
    python = str(Path(parser.parse_args().python).absolute())
    raw = [_ended(python, how, style) for style in ("without", "with") for how in ENDS]
    wrong = {who: [one for one in raw if one[who] != ENDS[one["end"]]] for who in ("sealed", "mlflow")}
    return write(
        "tracker_states",
        promised={"sealed wrongly": 0, "watch exit code 0 of a bad end": 0},
        found={
            "ends": len(raw),
            "sealed wrongly": len(wrong["sealed"]),
            "mlflow wrongly, without a with block": sum(one["style"] == "without" for one in wrong["mlflow"]),
            "mlflow wrongly, with one": sum(one["style"] == "with" for one in wrong["mlflow"]),
            "watch exit code 0 of a bad end": sum(one["watch code"] == "0" and one["end"] != "return" for one in raw),
        },
        raw=raw,
    )


def _ended(python: str, how: str, style: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tracked = {"TRACKED": (place / "mlruns").as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true"}
        environment = {**os.environ, **tracked, "AFFIDAVIT_DIR": str(place / "ours")}
        ours = {**environment, "PYTHONPATH": str(ROOT / "src")}
        affidavit = [sys.executable, "-m", "affidavit.cli"]
        script = str(SCRIPT)
        words = [
            "run",
            "--tree=allow",
            "--reason=a script made for this",
            "--",
            python,
            str(SCRIPT),
            "train",
            how,
            style,
        ]
        subprocess.run([*affidavit, *words], cwd=place, env=ours, capture_output=True, check=False)
        (run,) = {path.parent for path in (place / "ours" / "runs").glob("*/attempt.*.json")}
        sealed = subprocess.run([sys.executable, "-c", SEALED, str(run)], env=ours, capture_output=True, text=True)
        watched = subprocess.run([*affidavit, "watch"], cwd=place, env=ours, capture_output=True, text=True)
        asked = subprocess.run([python, script, "ask"], cwd=place, env=environment, capture_output=True, text=True)
        if asked.returncode or not (watched.stdout and sealed.stdout):
            raise RuntimeError(asked.stderr + watched.stderr + sealed.stderr)
        kept = json.loads(asked.stdout.splitlines()[-1])
        return {
            "end": how,
            "style": style,
            "mlflow": kept["states"][f"{how} {style}"],
            "mlflow version": kept["version"],
            "sealed": sealed.stdout.strip(),
            "watch": watched.stdout.split(maxsplit=1)[0],
            "watch said": " ".join(watched.stdout.split()),
            "watch code": str(watched.returncode),
        }


if __name__ == "__main__":
    sys.exit(main())
