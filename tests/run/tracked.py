"""A script that tells MLflow how it goes, and ends in one of five ways; ``ask`` says what MLflow has kept of each.

tracked.py train END STYLE, where STYLE is "with" or "without" the ``with`` block that MLflow's documentation has last.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import mlflow


def train(end: str) -> None:
    mlflow.log_metric("loss", 1.0)
    if end == "raise":
        raise RuntimeError("the loss is nan")
    if end == "exit 3":
        sys.exit(3)
    if end == "os._exit 1":
        os._exit(1)
    if end == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)


def ask() -> None:
    found = mlflow.search_runs(output_format="list")
    states = {run.data.tags["mlflow.runName"]: run.info.status for run in found}
    print(json.dumps({"states": states, "version": mlflow.__version__}))


if __name__ == "__main__":
    mlflow.set_tracking_uri(os.environ["TRACKED"])
    if sys.argv[1] == "ask":
        ask()
    elif sys.argv[3] == "with":
        with mlflow.start_run(run_name=" ".join(sys.argv[2:])):
            train(sys.argv[2])
    else:
        mlflow.start_run(run_name=" ".join(sys.argv[2:]))
        train(sys.argv[2])
