from __future__ import annotations

import os
from pathlib import Path

import pytest
from rooms import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty repository of somebody whom no configuration of this machine reaches."""
    for name in os.environ:
        if name.startswith(("GIT_", "AFFIDAVIT_", "SLURM_", "TORCHELASTIC_")):
            monkeypatch.delenv(name)
    home, root = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.org")
    made = Project(root)
    made.git("init", "-q")
    made.write(".gitignore", "__pycache__/\n.affidavit/\n")
    return made
