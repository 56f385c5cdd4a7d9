from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_world import Project
from watched import Shell, shell_of

from affidavit.run.spool import SHARED_MEMORY


@pytest.fixture(autouse=True)
def no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test takes the job of whoever runs it for its own."""
    for name in os.environ:
        if name.startswith(("SLURM_", "TORCHELASTIC_", "GIT_")) or name in ("AFFIDAVIT_DIR", "AFFIDAVIT_LAUNCH"):
            monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project; the spools of runs that a test left unsealed are taken away after it."""
    made = Project(tmp_path)
    yield made
    for run in made.runs.iterdir() if made.runs.is_dir() else ():
        shutil.rmtree(SHARED_MEMORY / f"affidavit-{os.geteuid()}" / run.name, ignore_errors=True)


@pytest.fixture
def shell(project: Project) -> Iterator[Shell]:
    """What starts a shell line under a supervisor, and gives its run folder once it trains."""
    with shell_of(project) as start:
        yield start
