"""Whose the code of one real run is: a project, a package edited in place, an editable library, code of two models."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from run_world import Project

from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Tally
from affidavit.fact.vocabulary import load
from affidavit.record.fold import read_record
from affidavit.record.record import Record

CONFIG = '{"model_type": "tiny", "auto_map": {"AutoConfig": "configuration_tiny.TinyConfig"}}\n'
CODE = "from transformers import PretrainedConfig\n\n\nclass TinyConfig(PretrainedConfig):\n    model_type = 'tiny'\n"
SCRIPT = """
import importlib
import sys

import torch
from transformers import AutoConfig

for name in ("edited_package", "plain_package", "library"):
    importlib.import_module(name)
for model in ("models/clean", "models/edited"):
    AutoConfig.from_pretrained(model, trust_remote_code=True)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(2, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(root), *identity, *words], capture_output=True, check=True)


def commit(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")


def installed(site: Path, name: str) -> None:
    """A package as an installer leaves it."""
    (site / f"{name}.py").write_text("K = 1\n")
    digest = urlsafe_b64encode(hashlib.sha256(b"K = 1\n").digest()).rstrip(b"=").decode()
    metadata = site / f"{name}-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "INSTALLER").write_text("pip\n")
    (metadata / "RECORD").write_text(f"{name}.py,sha256={digest},6\n")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An environment of its own, in front of the one with the frameworks; two packages and an editable library."""
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "frameworks.pth").write_text(sysconfig.get_path("purelib") + "\n")
    library = tmp_path / "library"
    library.mkdir()
    (library / "library.py").write_text("K = 1\n")
    commit(library)
    (site / "__editable__.library.pth").write_text(f"{library}\n")
    for name in ("edited_package", "plain_package"):
        installed(site, name)
    return place / "bin/python"


def value(record: Record, name: str) -> object:
    (state,) = (fact.state for fact in record.find(name))
    assert isinstance(state, Known), state
    return state.value


def rows(record: Record, name: str) -> list[tuple[str, str]]:
    table = value(record, name)
    assert isinstance(table, Table)
    return sorted((Path(str(row["path"])).name, str(row["verdict"])) for row in table.records())


@pytest.mark.parametrize("kind", ["clean", "fault"])
def test_each_file_is_held_against_who_answers_for_it(tmp_path: Path, python: Path, kind: str) -> None:
    root = tmp_path / "project"
    for model in ("clean", "edited"):
        (root / "models" / model).mkdir(parents=True)
        (root / "models" / model / "config.json").write_text(CONFIG)
        (root / "models" / model / "configuration_tiny.py").write_text(CODE)
    (root / "train.py").write_text(SCRIPT)
    (root / ".gitignore").write_text(".affidavit/\n__pycache__/\n")
    commit(root)
    if kind == "fault":
        (site,) = python.parents[1].glob("lib/python*/site-packages")
        for path in (
            site / "edited_package.py",
            tmp_path / "library/library.py",
            root / "models/edited/configuration_tiny.py",
        ):
            with path.open("a") as file:
                file.write("# edited\n")
    project = Project(root)
    project.environment |= {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    assert project.start(str(python), "train.py").wait(240) == 0
    project.over()
    record = read_record(project.only_run, load())
    deviating = [("configuration_tiny.py", "modified"), ("library.py", "modified")]
    assert rows(record, "code.deviations") == (deviating if kind == "fault" else [])
    edited = [("edited_package.py", "differs-from-record")]
    assert rows(record, "code.installed_deviations") == (edited if kind == "fault" else [])
    counts = value(record, "code.installed_by_record")
    assert isinstance(counts, Tally) and counts["as-recorded"] > 500
    commits = str(value(record, "code.commit"))
    assert "project@" in commits and "library@" in commits
