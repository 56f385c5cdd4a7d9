"""Where bare and observed runs of one test file lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from twice import Runner


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """One folder for all runs of a file: a pair of runs serves many tests."""
    return Runner(folder=tmp_path_factory.mktemp("runs"))


@pytest.fixture
def fresh_runner(tmp_path: Path) -> Runner:
    return Runner(folder=tmp_path)
