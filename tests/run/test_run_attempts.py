"""Attempts of one run, real ones: those that are healthy, and those that start over, change or overlap."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_world import HERE, Project, wait_for
from watched import LIGHT, Shell

from affidavit import checks
from affidavit.case import SUBJECT, Case
from affidavit.check import Finding, Verdict
from affidavit.check.engine import owed, run
from affidavit.check.load import load
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.values import Table
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.run.assemble import assemble
from affidavit.run.attempts import ATTEMPT_COLUMNS, attempt_facts
from affidavit.run.draft import record_of
from affidavit.run.gathered import gather
from affidavit.run.sealing import ensure_sealed
from affidavit.settings import Settings

WORDS = load_vocabulary()
OURS = {"one-writer", "steps-go-forward", "meaning-held", "ranks-end-as-command"}
CHECKS = {check.id: check for check in load(checks, WORDS) if check.id in OURS}
SILENCE = Unknown(Cause.NOTHING_TRAINED, "nobody trained")
NEW_YEAR = datetime.date(2026, 1, 1)


def said(project: Project) -> dict[str, Finding]:
    """Return what our checks say of the only run of a project, which is over."""
    wait_for(lambda: not gather(project.only_run).alive())
    ensure_sealed(project.only_run)
    case = assemble(project.only_run, Settings(root=project.root), vocabulary=WORDS, as_of=NEW_YEAR)
    return {name: run(check, case) for name, check in CHECKS.items() if owed(check, case)}


def loud(project: Project) -> dict[str, Verdict]:
    quiet = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    return {name: found.verdict for name, found in said(project).items() if found.verdict not in quiet}


# --- a requeued job ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def preempted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run has one attempt, which saved after steps 3 and 6."""
    project = Project(tmp_path_factory.mktemp("preempted"))
    shutil.copy(HERE / "resuming.py", project.root)
    resume(project, steps=6)
    assert loud(project) == {}
    return project.root


@pytest.fixture
def again(preempted: Path, tmp_path: Path) -> Project:
    shutil.copytree(preempted, tmp_path / "again")
    return Project(tmp_path / "again")


def resume(project: Project, *words: str, steps: int = 9, restart: int = 0) -> None:
    environment = {"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": str(restart), "OMP_NUM_THREADS": "1"}
    script = (sys.executable, str(project.root / "resuming.py"), str(project.root), f"--steps={steps}")
    assert project.run(*script, *words, environment=environment) == 0


def test_a_job_that_goes_on_where_it_was_is_healthy(again: Project) -> None:
    resume(again, "--load=all", restart=1)
    findings = said(again)
    assert {name: found.verdict for name, found in findings.items()} == dict.fromkeys(OURS, Verdict.PASS)
    (fact,) = [fact for fact in gathered_facts(again) if fact[0] == "run.attempts"]
    assert fact[1] == (
        (0, 0, "first", 0, 0, 6, "", 2),
        (1, 0, "requeued", 0, 0, 9, "optimizer, scheduler, state", 3),
    )


def gathered_facts(project: Project) -> list[tuple[str, tuple[object, ...]]]:
    facts = attempt_facts(gather(project.only_run), silence=SILENCE, is_over=True)
    known = [(fact.name, fact.state.value) for fact in facts if isinstance(fact.state, Known)]
    return [(name, value.rows if isinstance(value, Table) else (value,)) for name, value in known]


def test_a_job_that_does_not_find_its_checkpoint_starts_over(again: Project) -> None:
    resume(again, restart=1)
    assert loud(again) == {"steps-go-forward": Verdict.FAIL}
    message = said(again)["steps-go-forward"].message
    assert "to go on from one of 2 saves" in message and "it begins at step 1, and nothing was loaded" in message


def test_a_config_that_changed_meanwhile_is_another_training(again: Project) -> None:
    resume(again, "--load=weights", "--rate=0.05", restart=1)
    assert loud(again) == {"meaning-held": Verdict.FAIL}
    assert "optimizer.learning_rate 0.1 (an earlier attempt)" in said(again)["meaning-held"].message


@pytest.mark.parametrize(("came", "expected"), [("requeued", Verdict.FAIL), ("by hand", Verdict.PASS)])
def test_a_try_by_hand_that_begins_anew_is_a_training_of_its_own(came: str, expected: Verdict) -> None:
    """The same job, and no restart of it: somebody mended something and started again."""
    example = CHECKS["steps-go-forward"].example
    assert example is not None
    rows = ((0, 0, "first", 0, 0, 40, "", 2), (1, 0, came, 0, 0, 60, "", 1))
    case = example().altered("run.attempts", Table(ATTEMPT_COLUMNS, rows))
    assert run(CHECKS["steps-go-forward"], case).verdict is expected


@pytest.mark.parametrize(("before", "expected"), [(1, Verdict.PASS), (2, Verdict.REVIEW)])
def test_another_number_of_ranks_is_shown(before: int, expected: Verdict) -> None:
    example = CHECKS["meaning-held"].example
    assert example is not None
    case = example()
    case = case if before == 1 else case.altered("parent/run.ranks", 4).altered("parent/batch.effective", 16)
    assert run(CHECKS["meaning-held"], case).verdict is expected


def test_a_script_that_was_edited_meanwhile_is_another_training(again: Project) -> None:
    script = again.root / "resuming.py"
    script.write_text(script.read_text().replace("square()", "abs()"))
    resume(again, "--load=all", restart=1)
    assert loud(again) == {"meaning-held": Verdict.FAIL}
    assert "resuming.py edited since" in said(again)["meaning-held"].message


# --- one writer -------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_at_once(project: Project) -> Iterator[Project]:
    """A job that is requeued while its first start still runs."""
    environment = {"SLURM_JOB_ID": "9"}
    words = project.light("--steps=100000", "--pause=0.02")
    first = project.start(*words, environment=environment)
    try:
        project.beating()
        second = project.start(*words, environment={**environment, "SLURM_RESTART_COUNT": "1"})
        wait_for(lambda: len(gather(project.only_run).trainers) == 2)
        time.sleep(6)
        for one in gather(project.only_run).trainers:
            os.kill(one.pid, signal.SIGTERM)
        assert first.wait(20) and second.wait(20)
        yield project
    finally:
        first.kill()


def test_a_job_that_is_requeued_while_it_runs_has_two_writers(two_at_once: Project) -> None:
    finding = said(two_at_once)["one-writer"]
    assert finding.verdict is Verdict.FAIL and "(attempt 0 and 1)" in finding.message


def test_processes_that_are_all_rank_0_are_told_from_a_sweep(shell: Shell, project: Project) -> None:
    """Three at once: two of one command line, and one of another."""
    line = f"{LIGHT} --steps=330 --pause=0.02"
    shell(f"{line} & {line} & {line} --resume=x & wait; exit 0")
    finding = said(project)["one-writer"]
    assert finding.verdict is Verdict.FAIL, finding.message
    rows = dict(gathered_facts(project))["run.writers"]
    assert sorted(row[5] for row in rows) == ["another", "another", "the same"]  # type: ignore[index]


# --- how ranks ended --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{LIGHT} --ranks=2 --steps=5; exit 0", {}),
        (f"{LIGHT} --steps=5 | tee $HERE/log", {}),
        (f"{LIGHT} --ranks=2 --steps=5 --end=raise", {}),
        (f"{LIGHT} --ranks=2 --steps=5 --end=raise; exit 0", {"ranks-end-as-command": Verdict.FAIL}),
        (f"{LIGHT} --steps=5 --end=raise | tee $HERE/log", {"ranks-end-as-command": Verdict.FAIL}),
        (f"exec {LIGHT} --steps=5 --end=swallow", {"ranks-end-as-command": Verdict.FAIL}),
        (f"{LIGHT} --steps=500 & sleep 0.5; kill -9 $!; wait; exit 0", {"ranks-end-as-command": Verdict.UNKNOWN}),
    ],
    ids=["well", "well, through tee", "says so", "a launcher says 0", "tee says 0", "swallowed", "killed"],
)
def test_an_exit_code_says_how_the_ranks_ended(
    shell: Shell, project: Project, line: str, expected: dict[str, Verdict]
) -> None:
    shell(line)
    found = {name: verdict for name, verdict in loud(project).items() if name != "steps-go-forward"}
    assert found == expected  # the light script tells no position of its loop


def test_before_the_end_no_ending_is_asked_for(shell: Shell) -> None:
    gathered = gather(shell(f"exec {LIGHT} --steps=100000 --pause=0.02"))
    case = Case(records={SUBJECT: record_of(gathered, WORDS)}, as_of=NEW_YEAR)
    assert run(CHECKS["ranks-end-as-command"], case).verdict is Verdict.NOT_APPLICABLE
    assert run(CHECKS["one-writer"], case).verdict is Verdict.PASS
