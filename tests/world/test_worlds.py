"""Every world sabotage fails through the real instruments, every clean twin passes, and nothing else cries.

Scripts run in forks of one process that has imported the frameworks (server.py); the world of two ranks starts cold
under torchrun, through the true launcher.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import Server
from worlds import (
    CHECKS,
    HERE,
    OUTSIDE,
    QUIET,
    SCRIPTS,
    WORLDS,
    assert_all_quiet,
    assert_own_check_spoke,
    check_of,
    judged,
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_fault_is_caught_and_its_twin_is_quiet(world_server: Server, tmp_path: Path, script: str) -> None:
    assert_own_check_spoke(script, judged(world_server, tmp_path, SCRIPTS[script]))


@pytest.mark.parametrize("script", QUIET)
def test_a_run_that_no_check_is_about_is_quiet(world_server: Server, tmp_path: Path, script: str) -> None:
    assert_all_quiet(judged(world_server, tmp_path, QUIET[script]))


_IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org")


@pytest.mark.parametrize(("stem", "code"), [("fault", 1), ("clean", 0)])
def test_two_ranks_under_the_true_launcher(tmp_path: Path, stem: str, code: int) -> None:
    environment = {**os.environ, "AFFIDAVIT_DIR": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = str(HERE.parents[1] / "src/affidavit/demo/scripts")
    torchrun = [str(Path(sys.executable).parent / "torchrun"), "--nproc_per_node", "2"]
    script = [str(HERE / "ranks_agree" / f"{stem}.py"), str(tmp_path / "output")]
    options = ["--gate", "--tree", "allow", "--reason", "a world"]
    launcher = [sys.executable, "-m", "affidavit.cli", "run", *options, "--"]
    project = tmp_path / "project"
    project.mkdir()
    for words in (["init", "-q"], [*_IDENTITY, "commit", "-q", "--allow-empty", "-m", "nothing yet"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    ended = subprocess.run(
        [*launcher, *torchrun, *script],
        env=environment,
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ("ranks-agree" in said and "attention.kernels" in said) == (stem == "fault"), said
    assert ended.returncode == code, said


def test_every_check_of_a_run_has_a_world() -> None:
    """Checks of the tree and of other records have theirs elsewhere: real git trees, real locks, real panels."""
    elsewhere = {*OUTSIDE, "expectations-hold", "lock-holds", "meaning-held", "panel-describes-run"} - set(WORLDS)
    assert set(CHECKS) - elsewhere == {check_of(world).id for world in WORLDS}
