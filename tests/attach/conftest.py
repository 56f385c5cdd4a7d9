"""The runner of tests/harmless serves here as well."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "harmless"))

from twice import Runner


@pytest.fixture
def fresh_runner(tmp_path: Path) -> Runner:
    return Runner(folder=tmp_path)
