"""The rows L5 of docs/corpus.md that run here, each beside its twin that is well."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from run_world import Project, wait_for
from watched import LIGHT, PATIENT, Shell, becomes, elsewhere, look

from affidavit.record.manifest import Status
from affidavit.run.liveness.budget import within
from affidavit.run.liveness.verdict import Liveness
from affidavit.run.sealing import ensure_sealed


def test_l5_01_what_only_has_its_name_does_not_make_it_alive(shell: Shell, project: Project) -> None:
    """A shell and an editor with the script's name on their command lines live on; the script does not."""
    folder = shell(f"{LIGHT} {PATIENT} & wait; exec -a 'python light.py' sleep 60 # light.py {PATIENT}")
    assert look(folder).liveness is Liveness.ALIVE
    os.kill(project.pid(), signal.SIGKILL)
    becomes(folder, Liveness.DEAD)


def test_l5_02_a_run_is_seen_alive_from_within(shell: Shell, project: Project) -> None:
    """BSD's pgrep leaves out its own ancestors, so that a run which asks for itself is told that it is dead."""
    ask = "import sys; from pathlib import Path; from affidavit.run.liveness.look import Watcher\n" + (
        "print(Watcher(next(Path(sys.argv[1]).glob('.affidavit/runs/*-*'))).look().liveness.value)"
    )
    (project.root / "ask.py").write_text(ask)
    shell(f"{LIGHT} {PATIENT} & sleep 1; {sys.executable} $HERE/ask.py $HERE > $HERE/said; wait")
    wait_for(lambda: (project.root / "said").exists() and (project.root / "said").read_text())
    assert (project.root / "said").read_text() == "ALIVE\n"


@pytest.mark.parametrize(("tail", "expected"), [("; exit 0", Liveness.DEAD), ("", Liveness.DEAD)])
def test_l5_03_a_launcher_that_says_0_of_a_worker_that_raised(shell: Shell, tail: str, expected: Liveness) -> None:
    becomes(shell(f"{LIGHT} --ranks=2 --steps=20 --end=raise{tail}"), expected)


def test_l5_03_its_twin_ends_well(shell: Shell) -> None:
    said = becomes(shell(f"{LIGHT} --ranks=2 --steps=20; exit 0"), Liveness.FINISHED)
    assert "seen by nobody but those that started them" in said.why[0]


def test_l5_04_a_launcher_that_says_0_of_a_worker_that_was_killed(shell: Shell, project: Project) -> None:
    folder = shell(f"{LIGHT} {PATIENT} & wait; exit 0")
    os.kill(project.pid(), signal.SIGKILL)
    said = becomes(folder, Liveness.UNKNOWN)
    assert "was cut off" in said.why[0]


def test_l5_05_one_rank_of_two_hangs_and_the_other_goes_on(shell: Shell, project: Project) -> None:
    folder = shell(f"{LIGHT} {PATIENT} --ranks=2")
    project.beating(ranks=2)
    assert look(folder).liveness is Liveness.ALIVE
    hung = project.pid(rank=1)
    os.kill(hung, signal.SIGSTOP)
    assert becomes(folder, Liveness.STOPPED).ranks[1][1].liveness is Liveness.STOPPED
    os.kill(hung, signal.SIGCONT)
    becomes(folder, Liveness.ALIVE)


def test_l5_05_a_rank_that_lives_and_falls_behind(shell: Shell, project: Project) -> None:
    """Both take steps; that one of them has long left the other behind no age of a beat would tell."""
    line = f"(RANK=0 WORLD_SIZE=2 {LIGHT} {PATIENT} &); RANK=1 WORLD_SIZE=2 {LIGHT} --steps=100000 --pause=0.4"
    folder = shell(line)
    project.beating(ranks=2)
    said = becomes(folder, Liveness.STALLED)
    assert "rank 1" in said.why[0] and "steps behind the furthest of 2 ranks" in said.why[0]


def test_l5_06_an_agent_that_lives_on_after_the_crash_of_its_worker(shell: Shell, project: Project) -> None:
    folder = shell(f"{LIGHT} {PATIENT} & wait; sleep 60")
    assert look(folder).liveness is Liveness.ALIVE
    os.kill(project.pid(), signal.SIGKILL)
    assert "is gone; it was cut off at step" in becomes(folder, Liveness.DEAD).why[0]


def test_l5_06_its_twin_left_in_an_orderly_way(shell: Shell) -> None:
    folder = shell(f"{LIGHT} --steps=20; sleep 60")
    said = becomes(folder, Liveness.ALIVE)
    wait_for(lambda: "every process that trained has left" in look(folder).why[0])
    assert said.liveness is Liveness.ALIVE


def test_l5_07_08_12_a_crash_that_the_script_swallows_is_not_finished(shell: Shell, project: Project) -> None:
    """The script's own process raises in its loop, catches that, and ends with exit code 0."""
    said = becomes(shell(f"exec {LIGHT} --steps=20 --end=swallow"), Liveness.DEAD)
    assert "exit code 0" in said.why[0] and "the loss is nan" in said.why[0]
    found = ensure_sealed(project.only_run)
    assert getattr(found, "status", None) is Status.FINISHED, "that is the exit code's word; a check must follow"


def test_l5_09_a_run_whose_word_does_not_come_through_is_not_called_dead(shell: Shell, tmp_path: Path) -> None:
    there = elsewhere(shell(f"exec {LIGHT} {PATIENT}"), tmp_path / "copy")
    said = look(there)
    assert said.liveness is Liveness.ALIVE and "cannot be looked up from here" in said.why[0]
    (attempt,) = there.glob("attempt.*.json")
    os.utime(attempt, (time.time() + 5, time.time() + 5))
    assert look(there, within(1)).liveness is Liveness.STALLED, "its supervisor lives, and saw no step for 5 s"
    os.utime(attempt, (time.time() - 300, time.time() - 300))
    said = look(there)
    assert said.liveness is Liveness.UNKNOWN and "has not said a word for 300 s" in said.why[0]
    os.utime(attempt, (time.time() + 300, time.time() + 300))
    assert "ahead of this clock" in look(there).why[0]


def test_l5_13_a_failure_behind_tee_is_not_finished(shell: Shell, project: Project) -> None:
    said = becomes(shell(f"{LIGHT} --steps=20 --end=raise | tee $HERE/log"), Liveness.DEAD)
    assert "exit code 0, and rank 0 with an error" in said.why[0]


def test_l5_13_its_twin_is(shell: Shell) -> None:
    becomes(shell(f"{LIGHT} --steps=20 | tee $HERE/log"), Liveness.FINISHED)
