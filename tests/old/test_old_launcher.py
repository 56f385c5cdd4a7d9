"""The true launcher, in the newer environment, in front of an interpreter that has the older stack and not us."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from server import SCRIPTS
from worlds import HERE as WORLDS


def _in(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFFIDAVIT")}
    environment |= {"HF_HUB_OFFLINE": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("stem", "code"), [("fault", 1), ("clean", 0)])
def test_a_committed_script_on_the_older_stack(old_python: Path, tmp_path: Path, stem: str, code: int) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(WORLDS / "adapter_targets_matched" / f"{stem}.py", project / "train.py")
    shutil.copy(SCRIPTS / "tiny.py", project)
    (project / ".gitignore").write_text("__pycache__/\n.affidavit/\nout/\n")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*identity, "commit", "-q", "-m", "Train")):
        assert _in(project, "git", *words).returncode == 0

    affidavit = (sys.executable, "-m", "affidavit.cli")
    ended = _in(project, *affidavit, "run", "--gate", "--", str(old_python), "train.py", "out")
    assert ended.returncode == code, ended.stdout + ended.stderr
    shown = json.loads(_in(project, *affidavit, "show", "--json").stdout)
    verdicts = {found["check"]: found["verdict"] for found in shown["findings"]}
    assert verdicts["code-is-committed"] == "PASS", shown["findings"]
    assert verdicts["adapter-targets-matched"] == ("FAIL" if stem == "fault" else "PASS")
    assert "UNKNOWN" not in verdicts.values(), shown["findings"]


def test_the_older_interpreter_has_the_older_stack_and_not_us(old_python: Path) -> None:
    words = "import importlib.metadata as m; print(*map(m.version, ('transformers', 'trl', 'peft', 'torch')))"
    older, newer = (_in(Path.cwd(), str(python), "-c", words).stdout.split() for python in (old_python, sys.executable))
    assert older[:2] == ["4.57.6", "0.24.0"]
    assert older[3] == newer[3] and set(older[:3]).isdisjoint(newer[:3])
    assert _in(Path.cwd(), str(old_python), "-c", "import affidavit").returncode == 1
