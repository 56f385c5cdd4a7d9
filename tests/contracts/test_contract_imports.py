"""The import contracts hold, and each of them goes red on a planted violation.

An import inside a function counts: it is how a cycle or a framework usually gets in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLANTED = [
    ("fact/values.py", "import affidavit.record", "Nothing imports upward"),
    ("attach/session.py", "import affidavit.boot", "Nothing imports upward"),
    ("case.py", "import affidavit.check.engine", "Nothing imports upward"),
    ("run/__init__.py", "import affidavit.boot", "Nothing imports upward"),
    ("report/__init__.py", "import affidavit.cli", "Nothing imports upward"),
    ("planted.py", "", "Nothing imports upward"),
    ("cli/main.py", "import torch", "The half that judges imports no framework"),
    ("checks/__init__.py", "import numpy", "The half that judges imports no framework"),
    ("attach/session.py", "import msgspec", "The half in the training process knows nothing of judgement"),
    ("instruments/__init__.py", "import affidavit.case", "The half in the training process knows nothing of judgement"),
    ("cache/preimage.py", "import affidavit.case", "The half in the training process knows nothing of judgement"),
    ("run/__init__.py", "import click", "Only what talks to a terminal imports click or rich"),
]


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "NO_COLOR": "1"}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the package, to be spoilt."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def test_the_contracts_hold(tree: Path) -> None:
    ended = _lint(tree)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 broken" in ended.stdout


@pytest.mark.parametrize(("file", "violation", "contract"), PLANTED)
def test_a_violation_is_seen(tree: Path, file: str, violation: str, contract: str) -> None:
    target = tree / "src/affidavit" / file
    before = target.read_text() if target.exists() else ""
    target.write_text(f"{before}\n\ndef _planted() -> None:\n    {violation or 'pass'}\n")
    ended = _lint(tree)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    if violation:
        assert f"{contract} BROKEN" in ended.stdout


@pytest.mark.parametrize("package", ["adapters", "instruments"])
def test_neighbours_do_not_import_each_other(tree: Path, package: str) -> None:
    folder = tree / "src/affidavit" / package
    (folder / "planted_one.py").write_text(f"import affidavit.{package}.planted_two\n")
    (folder / "planted_two.py").write_text("")
    ended = _lint(tree)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert f"affidavit.{package}.planted_one is not allowed to import affidavit.{package}.planted_two" in " ".join(
        ended.stdout.split()
    )
