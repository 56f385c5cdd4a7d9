"""CONTRIBUTING tells the truth: its files are added to a copy of the tree, nothing else is edited, and they work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from source_rules import RULES

from affidavit.fact import folder as names
from affidavit.fact.journal import Reading, read
from affidavit.fact.observation import Known
from affidavit.fact.values import Tally

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
PYTHON = re.compile(r"```python\n# (src/affidavit/(\S+\.py))\n(.*?)```", re.DOTALL)
BLOCKS = {match[2]: match[3] for match in PYTHON.finditer(TEXT)}
CHECK = "checks/words_outweigh_padding.py"

DRILL = """
import affidavit.checks
from affidavit.check import drill
from affidavit.check.load import load
from affidavit.fact.vocabulary import load as load_vocabulary

found = {check.id: check for check in load(affidavit.checks, load_vocabulary())}
drilled = drill(found["words-outweigh-padding"], found["words-outweigh-padding"].example())
print(drilled.caught, len(drilled.proofs), drilled.unread)
"""
TINYLOOP = """
LISTENERS = []

def fit(model, steps):
    tell = lambda event, step: [listen(event, step, model) for listen in LISTENERS]
    tell("begin", 0)
    for step in range(1, steps + 1):
        tell("step", step)
        tell("stepped", step)
    tell("end", steps)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the source with every block of CONTRIBUTING in its place."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in BLOCKS.items():
        target = tmp_path / "src/affidavit" / path
        assert not target.exists()
        target.write_text(text)
    return tmp_path


def _python(tree: Path, *command: str, shadow: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    places = (tree / "src/affidavit/attach/site", ROOT / "src/affidavit/demo/scripts", tree)
    path = os.pathsep.join(map(str, places)) if shadow else str(tree / "src")
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(
        [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def _attached(tree: Path, *command: str) -> Reading:
    """Run a program under the shadow of the copy and return its one journal."""
    run = tree / "run"
    run.mkdir()
    launch = names.launch(run, 0)
    launch.write_text(json.dumps({"run": "r", "folder": str(run), "spool": str(run), "format": 1}))
    ended = _python(tree, *command, shadow=True, AFFIDAVIT_LAUNCH=str(launch))
    assert ended.returncode == 0, ended.stderr
    assert not (run / "hello.refused").exists(), (run / "hello.refused").read_text()
    (journal,) = names.journals(run)
    return read(journal)


def test_the_text_names_a_check_a_fact_and_a_framework() -> None:
    assert {path.partition("/")[0] for path in BLOCKS} == {"checks", "fact", "instruments", "adapters"}


@pytest.mark.parametrize("target", re.findall(r"^\$ make (\w+)", TEXT, re.MULTILINE))
def test_the_commands_exist(target: str) -> None:
    ended = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_check_is_admitted_and_every_sabotage_caught(tree: Path) -> None:
    ended = _python(tree, "-c", DRILL)
    assert ended.stdout == "True 3 ()\n", ended.stdout + ended.stderr


def test_the_drill_prints_what_the_text_says(tree: Path) -> None:
    ended = _python(tree, "-m", "affidavit.cli", "drill")
    (line,) = re.findall(r"^\$ affidavit drill \| grep words\n(.*)$", TEXT, re.MULTILINE)
    assert line in ended.stdout.splitlines(), ended.stdout + ended.stderr


def test_without_its_sabotage_the_check_is_refused(tree: Path) -> None:
    spoilt = BLOCKS[CHECK].partition("@words_outweigh_padding.sabotage")[0]
    (tree / "src/affidavit" / CHECK).write_text(spoilt)
    ended = _python(tree, "-c", DRILL)
    assert "it has no sabotage, so nobody has seen it fail" in ended.stderr


def test_the_fact_is_seen_in_a_real_run(tree: Path) -> None:
    reading = _attached(tree, str(ROOT / "tests/world/plain_loop/clean.py"), str(tree / "out"))
    (state,) = [seen.state for seen in reading.observations if seen.term == "batch.tokens"]
    assert isinstance(state, Known), state
    assert isinstance(state.value, Tally)
    assert state.value["words"] > 0
    assert state.source == "attention mask in step 2"


def test_the_framework_is_heard(tree: Path) -> None:
    (tree / "tinyloop.py").write_text(TINYLOOP)
    reading = _attached(tree, "-c", "import tinyloop; tinyloop.fit(object(), 3)")
    assert [(episode.driver, episode.ended) for episode in reading.episodes] == [("tinyloop", "returned")]
    assert reading.live_step == 2


def test_the_blocks_keep_the_rules_of_the_house(tree: Path) -> None:
    broken = [offence for rule in RULES for offence in rule.offences(BLOCKS)]
    assert not broken
    files = [f"src/affidavit/{path}" for path in BLOCKS]
    shutil.copy(ROOT / "pyproject.toml", tree)
    for command in (["check"], ["format", "--check"]):
        ended = _python(tree, "-m", "ruff", *command, *files)
        assert ended.returncode == 0, ended.stdout
