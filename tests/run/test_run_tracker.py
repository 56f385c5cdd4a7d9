"""What MLflow says of runs that ended badly, and what is sealed of the same runs.

Source: mlflow/mlflow#3932 and #5963 (corpus L5-10, L5-11): a failed run is FINISHED, or RUNNING for ever.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from run_world import HERE, Project, bare_environment
from watched import look

from affidavit.run.liveness.verdict import Liveness

SCRIPT = str(HERE / "tracked.py")
LIES = {
    "raise without": ("FAILED", "FINISHED"),
    "exit 3 without": ("FAILED", "FINISHED"),
    "os._exit 1 without": ("FAILED", "RUNNING"),
    "SIGKILL without": ("KILLED", "RUNNING"),
    "SIGKILL with": ("KILLED", "RUNNING"),
}
"""What is sealed of a run, and what MLflow has kept of it."""
TRUTHS = {"return without": ("FINISHED", "FINISHED"), "raise with": ("FAILED", "FAILED")}


@pytest.fixture(scope="module")
def ended(tracker_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, Liveness]]:
    """Return of each run what is sealed, what MLflow says, and what a look at the run says."""
    place = tmp_path_factory.mktemp("tracked")
    tracked = {"TRACKED": (place / "mlruns").as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true"}
    seen: dict[str, tuple[str, Liveness]] = {}
    for name in (*LIES, *TRUTHS):
        end, _, style = name.rpartition(" ")
        root = place / name.replace(" ", "_")
        root.mkdir()
        project = Project(root, bare_environment(**tracked))
        project.start(str(tracker_python), SCRIPT, "train", end, style, stderr=subprocess.DEVNULL).wait(60)
        seen[name] = (project.over().status.value, look(project.only_run).liveness)
    ask = (str(tracker_python), SCRIPT, "ask")
    asked = subprocess.run(ask, env=bare_environment(**tracked), capture_output=True, text=True, check=True)
    states = json.loads(asked.stdout.splitlines()[-1])["states"]
    return {name: (sealed, states[name], liveness) for name, (sealed, liveness) in seen.items()}


@pytest.mark.parametrize("name", LIES)
def test_what_the_tracker_takes_for_well_or_alive_is_sealed_as_it_ended(
    ended: dict[str, tuple[str, str, Liveness]], name: str
) -> None:
    sealed, tracked, liveness = ended[name]
    assert (sealed, tracked) == LIES[name]
    assert liveness is Liveness.DEAD


@pytest.mark.parametrize("name", TRUTHS)
def test_where_the_tracker_is_right_both_say_the_same(ended: dict[str, tuple[str, str, Liveness]], name: str) -> None:
    sealed, tracked, liveness = ended[name]
    assert (sealed, tracked) == TRUTHS[name]
    assert liveness is (Liveness.FINISHED if sealed == "FINISHED" else Liveness.DEAD)
