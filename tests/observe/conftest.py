from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_world import World, new_world, with_submodule


@pytest.fixture(autouse=True)
def lonely_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the configuration of whoever runs it."""
    for name in os.environ:
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return new_world(tmp_path / "r")


@pytest.fixture
def nested(world: World) -> World:
    """A world with a submodule."""
    return with_submodule(world)
