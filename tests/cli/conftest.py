from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.desk import Desk, desk, shelf


@pytest.fixture
def project(tmp_path: Path) -> Desk:
    """A project in which nothing has run yet."""
    return desk(tmp_path / "project")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project with four runs, the last of them clean; tests read it and change nothing in it."""
    return shelf(tmp_path_factory.mktemp("trained") / "project")


@pytest.fixture
def copied(trained: Desk, tmp_path: Path) -> Desk:
    """The same with four runs, for a test that changes them."""
    shutil.copytree(trained.root, tmp_path / "project")
    return replace(trained, root=tmp_path / "project")
