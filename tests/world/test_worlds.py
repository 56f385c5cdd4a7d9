"""Every world sabotage fails through the real instruments, every clean twin passes, and nothing else cries.

Scripts run in forks of one process that has imported the frameworks (server.py); the world of two ranks starts cold
under torchrun, through the true launcher.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import Server

from affidavit import checks
from affidavit.attach.launch import Launch
from affidavit.case import Case
from affidavit.check import Check, Finding, Verdict, judge
from affidavit.check.load import load
from affidavit.fact import folder as names
from affidavit.fact.journal import read
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.merge import merge
from affidavit.record.record import Kind

HERE = Path(__file__).parent
WORDS = load_vocabulary()
CHECKS = {check.id: check for check in load(checks, WORDS)}
COLD = {"ranks-agree"}
WORLDS = sorted(place.name.replace("_", "-") for place in HERE.iterdir() if (place / "fault.py").is_file())
OWN = {"plain-loop": "attention-as-requested"}
"""Worlds that are not named after their check."""
SCRIPTS = [
    (world, script)
    for world in WORLDS
    if world not in COLD
    for script in sorted((HERE / world.replace("-", "_")).glob("*.py"))
]


def _check(world: str) -> Check:
    return CHECKS[OWN.get(world, world)]


def _judged(folder: Path) -> tuple[Finding, ...]:
    readings = [read(path) for path in names.journals(folder)]
    record = merge(readings, kind=Kind.RUN, subject=folder.name, vocabulary=WORDS)
    return judge(CHECKS.values(), Case(records={"run": record}, as_of=datetime.date(2026, 11, 30)))


@pytest.mark.parametrize(("world", "script"), SCRIPTS, ids=[f"{world}/{script.stem}" for world, script in SCRIPTS])
def test_a_fault_is_caught_and_its_twin_is_quiet(
    world_server: Server, tmp_path: Path, world: str, script: Path
) -> None:
    launch = names.launch(tmp_path, 0)
    Launch(run="world", folder=str(tmp_path), spool=str(tmp_path)).write(launch)
    ended = world_server.run(script, (str(tmp_path / "output"),), launch=launch)
    assert ended.returncode == 0, ended.stderr
    findings = _judged(tmp_path)
    (own,) = [finding for finding in findings if finding.check == _check(world).id]
    accused = {
        finding.check: finding.message for finding in findings if finding.verdict in (Verdict.FAIL, Verdict.REVIEW)
    }
    if script.stem.startswith("fault"):
        assert own.verdict in {sabotage.expect for sabotage in _check(world).sabotages}, own.message
        assert own.check in accused
    else:
        assert own.verdict is Verdict.PASS, own.message
        assert accused == {}


@pytest.mark.parametrize("script", sorted((HERE / "quiet").glob("*.py")), ids=lambda script: script.stem)
def test_a_run_that_no_check_is_about_is_quiet(world_server: Server, tmp_path: Path, script: Path) -> None:
    launch = names.launch(tmp_path, 0)
    Launch(run="world", folder=str(tmp_path), spool=str(tmp_path)).write(launch)
    ended = world_server.run(script, (str(tmp_path / "output"),), launch=launch)
    assert ended.returncode == 0, ended.stderr
    loud = [finding for finding in _judged(tmp_path) if finding.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    outside = {"code-is-committed", "tree-is-committed"}  # their facts come from the launcher, which is not here
    assert {finding.check for finding in loud} == outside, loud


@pytest.mark.parametrize(("stem", "code"), [("fault", 1), ("clean", 0)])
def test_two_ranks_under_the_true_launcher(tmp_path: Path, stem: str, code: int) -> None:
    environment = {**os.environ, "AFFIDAVIT_DIR": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = str(HERE.parents[1] / "src/affidavit/demo/scripts")
    torchrun = [str(Path(sys.executable).parent / "torchrun"), "--nproc_per_node", "2"]
    script = [str(HERE / "ranks_agree" / f"{stem}.py"), str(tmp_path / "output")]
    options = ["--gate", "--tree", "allow", "--reason", "a world"]
    launcher = [sys.executable, "-m", "affidavit.cli", "run", *options, "--"]
    ended = subprocess.run(
        [*launcher, *torchrun, *script],
        env=environment,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ("ranks-agree" in said and "attention.kernels" in said) == (stem == "fault"), said
    assert ended.returncode == code, said


def test_every_check_of_a_run_has_a_world() -> None:
    """Checks of the tree and of other records have theirs elsewhere: real git trees, real locks, real panels."""
    elsewhere = {"code-is-committed", "tree-is-committed", "lock-holds", "expectations-hold", "panel-describes-run"}
    assert set(CHECKS) - elsewhere == {_check(world).id for world in WORLDS}
