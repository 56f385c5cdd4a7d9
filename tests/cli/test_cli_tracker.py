"""A person asks for the tracker in affidavit.toml: the run is found by its name, told its seal, and verified by it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.desk import SOURCE, desk

STAND_IN = Path(__file__).parents[1] / "run" / "stand_in"
LOGS = """
import json, os, sys
tags = json.loads(os.environ.get("MLFLOW_RUN_CONTEXT", "{}"))
json.dump({"a": {"tags": tags, "stage": "active"}}, open(sys.argv[1], "w"))
"""
"""What MLflow does with the context of a run that is started."""
CORRECTION = ("--falls", "run.ranks", "--reviewed-nothing-else", "--why", "another seat", "--author", "Ada")


def carried(path: Path) -> dict[str, str]:
    return json.loads(path.read_text())["a"]["tags"]  # type: ignore[no-any-return]


def test_a_run_is_found_told_and_verified(tmp_path: Path) -> None:
    python = ("--python", sys.executable)
    made, kept = desk(tmp_path / "project"), tmp_path / "kept.json"
    made.environment["PYTHONPATH"] = f"{SOURCE}:{STAND_IN}"
    (made.root / "affidavit.toml").write_text(f'[seal]\ntracker = "mlflow"\ntracking_uri = "stand-in:{kept}"\n')
    words = ("--tree", "allow", "--reason", "one line of it", "--", sys.executable, "-c", LOGS, str(kept))
    trained = made.start("run", *words)
    assert trained.returncode == 0 and "tracker" not in trained.stderr, trained.stderr
    (run,) = made.run_ids
    folder = made.root / ".affidavit" / "runs" / run
    assert carried(kept) == {"affidavit.run": run, "affidavit.seal": (folder / "head.json").read_text()}
    ended = made.type("verify")
    assert ended.exit_code == 0 and "✓ tracker tag  MLflow run a in" in ended.stdout
    assert "no outside witness" not in ended.stdout.lower()
    assert made.type("annotate", "last", *CORRECTION).exit_code == 0
    assert json.loads(carried(kept)["affidavit.seal"])["count"] == 1
    assert made.document("doctor", *python)["environment"][-2] == {
        "about": "tracker",
        "sight": "clear",
        "said": f"stand-in:{kept}",
    }
    kept.write_text("the server is down")
    told = made.document("doctor", *python)["environment"][-2]
    assert told["sight"] == "less" and told["said"].endswith("could not be asked: RuntimeError: the server is down")
    again = made.type("annotate", "last", *CORRECTION)
    told = " ".join(again.stderr.split())
    assert again.exit_code == 0 and "affidavit: no tracker witness: stand-in:" in told, told
    assert told.endswith("could not be asked: RuntimeError: the server is down")
    assert made.type("verify").exit_code == 4, "it could not be asked"
