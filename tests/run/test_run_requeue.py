"""One job is one run: requeued, on several nodes, or started again; two commands of one job are two."""

from __future__ import annotations

import datetime
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from run_world import Project

from affidavit.check import Verdict, judge
from affidavit.record import chain, seal
from affidavit.record.manifest import Status
from affidavit.record.record import Kind
from affidavit.run.assemble import assemble
from affidavit.run.attempt import Ended, Start, claim, read_attempts, write_ended
from affidavit.run.place import Place, place
from affidavit.run.plugins import load_house
from affidavit.run.process import myself
from affidavit.run.scheduler import Scheduler, scheduler
from affidavit.run.sealing import Running, earlier, ensure_sealed
from affidavit.settings import Settings

NEW_YEAR = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
JOB = {"SLURM_JOB_ID": "77", "SLURM_RESTART_COUNT": "0"}
REQUEUED = {"SLURM_JOB_ID": "77", "SLURM_RESTART_COUNT": "1"}


def _preempt(project: Project, *words: str) -> int:
    supervisor = project.start(*project.light("--steps=400", *words), environment=JOB)
    project.beating()
    os.kill(supervisor.pid, signal.SIGTERM)
    return supervisor.wait(30)


@pytest.mark.parametrize(
    ("words", "code"), [((), 128 + signal.SIGTERM), (("--term=graceful",), 0)], ids=["killed", "saved and left"]
)
def test_a_preempted_and_requeued_job_is_one_run_with_two_attempts(
    project: Project, words: tuple[str, ...], code: int
) -> None:
    assert _preempt(project, *words) == code
    first = ensure_sealed(project.only_run)
    assert not isinstance(first, Running) and first.status is Status.PREEMPTED
    before = seal.read_sealed(project.only_run).digest

    resumed = project.light("--steps=30", "--resume=checkpoint-10", *words)
    assert project.run(*resumed, environment=REQUEUED) == 0

    manifest = seal.read_sealed(project.only_run).manifest
    assert [attempt.status for attempt in manifest.attempts] == [Status.PREEMPTED, Status.FINISHED]
    assert [attempt.last_step for attempt in manifest.attempts][1] == 30
    assert manifest.status is Status.FINISHED
    assert any(str(before) in note for note in manifest.notes)
    assert [seal.read_sealed(place).digest for place in earlier(project.only_run)] == [before]


def test_a_requeued_run_raises_no_alarm(project: Project) -> None:
    _preempt(project)
    assert project.run(*project.light("--steps=30", "--resume=checkpoint-10"), environment=REQUEUED) == 0
    house = load_house(project.root)
    settings = Settings(root=project.root)
    case = assemble(project.only_run, settings, vocabulary=house.vocabulary, as_of=datetime.date(2026, 1, 1))
    assert case.offers("parent"), "the attempt before is not offered"
    findings = judge(house.checks, case)
    assert findings and not [found for found in findings if found.verdict is Verdict.FAIL]
    assert not [note for note in case.subject.notes if "both say" in note]


def test_a_correction_of_an_earlier_attempt_is_told_in_the_record_of_the_next(project: Project) -> None:
    """Its observations stand in the new record, where nothing fells them."""
    _preempt(project)
    ensure_sealed(project.only_run)
    chain.annotate(project.only_run, falls=("adapter.*",), reason="another model", author="me")
    assert project.run(*project.light("--steps=30"), environment=REQUEUED) == 0
    notes = [note for note in seal.read_sealed(project.only_run).manifest.notes if "correction" in note]
    assert len(notes) == 1 and "attempt 0" in notes[0] and "adapter.kind" in notes[0] and "another model" in notes[0]


def test_a_node_that_was_lost_with_everything_on_it_is_preempted_once_the_job_is_back(project: Project) -> None:
    supervisor = project.start(*project.light("--steps=400"), environment=JOB)
    project.beating()
    os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.wait(10)
    assert project.run(*project.light("--steps=30"), environment=REQUEUED) == 0
    manifest = seal.read_sealed(project.only_run).manifest
    assert [attempt.status for attempt in manifest.attempts] == [Status.PREEMPTED, Status.FINISHED]


def test_an_interrupted_set_aside_is_ended_by_the_next_reader(project: Project) -> None:
    _preempt(project)
    before = seal.read_sealed(project.only_run).digest
    assert project.run(*project.light("--steps=30"), environment=REQUEUED) == 0
    (kept,) = earlier(project.only_run)
    for name in ("manifest.json", "head.json"):
        (project.only_run / name).unlink()
    os.link(kept / "manifest.json", project.only_run / "manifest.json")  # linked away, and not removed yet
    found = ensure_sealed(project.only_run)
    assert not isinstance(found, Running) and len(found.attempts) == 2
    assert seal.read_sealed(kept).digest == before


# --- which run, which attempt ----------------------------------------------------------------------------------


def _start(job: Scheduler, *command: str, recipe: str = "train", kind: Kind = Kind.RUN) -> Start:
    return Start(
        run="",
        number=0,
        task=job.task,
        kind=kind,
        recipe=recipe,
        command=command or ("python", "train.py"),
        cwd="/w",
        project="/w",
        spool="/nowhere",
        supervisor=myself(),
        scheduler=job,
        started=NEW_YEAR,
    )


def _enter(runs: Path, start: Start, status: str = "") -> Place:
    """Put a start where it belongs, ended with a status or still alive."""
    where = place(runs, start)
    placed = replace(start, run=where.run, number=where.number)
    (runs / where.run).mkdir(parents=True, exist_ok=True)
    assert claim(runs / where.run, placed)
    if status:
        code = int(status == "FAILED")
        ended = Ended(status=Status(status), code=code, signal=0, ended=NEW_YEAR)
        write_ended(runs / where.run, placed, ended)
    return where


SLURM = Scheduler(name="slurm", job="77")
AGAIN = replace(SLURM, restart=(1, 0))
NODE = {number: replace(SLURM, job="77.0", task=number, is_task=True) for number in range(3)}


def test_without_a_scheduler_every_start_is_a_run(tmp_path: Path) -> None:
    start = _start(Scheduler())
    assert _enter(tmp_path, start, "FINISHED").run != _enter(tmp_path, start, "FINISHED").run


def test_nodes_of_one_step_share_one_attempt(tmp_path: Path) -> None:
    assert {_enter(tmp_path, _start(NODE[number])) for number in NODE} == {Place("slurm-77.0", 0)}
    assert [told.start.task for told in read_attempts(tmp_path / "slurm-77.0")] == [0, 1, 2]


def test_two_commands_of_one_job_are_two_runs(tmp_path: Path) -> None:
    assert _enter(tmp_path, _start(SLURM, "python", "sft.py"), "FINISHED") == Place("slurm-77", 0)
    assert _enter(tmp_path, _start(SLURM, "python", "dpo.py"), "FINISHED") == Place("slurm-77-2", 0)


def test_each_command_of_a_requeued_job_finds_its_own_run(tmp_path: Path) -> None:
    _enter(tmp_path, _start(SLURM, "python", "sft.py", recipe="sft"), "FINISHED")
    _enter(tmp_path, _start(SLURM, "python", "dpo.py", recipe="dpo"), "PREEMPTED")
    again = _start(AGAIN, "python", "dpo.py", "--resume", recipe="dpo")
    assert _enter(tmp_path, again) == Place("slurm-77-2", 1)


def test_a_sweep_beside_itself_in_one_job_is_as_many_runs(tmp_path: Path) -> None:
    assert _enter(tmp_path, _start(SLURM)) == Place("slurm-77", 0)
    assert _enter(tmp_path, _start(SLURM)) == Place("slurm-77-2", 0)


@pytest.mark.parametrize(
    ("status", "expected"), [("FAILED", Place("slurm-77", 1)), ("FINISHED", Place("slurm-77-2", 0))]
)
def test_a_retry_continues_what_failed_and_not_what_finished(tmp_path: Path, status: str, expected: Place) -> None:
    _enter(tmp_path, _start(SLURM), status)
    assert _enter(tmp_path, _start(SLURM)) == expected


def test_a_rehearsal_in_a_job_is_no_attempt_of_its_run(tmp_path: Path) -> None:
    assert _enter(tmp_path, _start(SLURM, kind=Kind.REHEARSAL), "FINISHED") == Place("slurm-77-rehearsal", 0)
    assert _enter(tmp_path, _start(SLURM)) == Place("slurm-77", 0)


def test_a_folder_that_exists_and_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "slurm-77").mkdir()
    (tmp_path / "slurm-77" / "attempt.0.0.json").write_text('{"format": 9}')
    assert _enter(tmp_path, _start(SLURM)) == Place("slurm-77-2", 0)


def test_a_supervisor_on_another_host_is_over_when_its_file_has_long_been_still(tmp_path: Path) -> None:
    far = replace(myself(), host="elsewhere", boot="another")
    where = _enter(tmp_path, replace(_start(SLURM), supervisor=far))
    folder = tmp_path / where.run
    assert isinstance(ensure_sealed(folder), Running)
    old = time.time() - 3600
    os.utime(folder / "attempt.0.0.json", (old, old))
    found = ensure_sealed(folder)
    assert not isinstance(found, Running) and found.status is Status.ABANDONED


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Scheduler()),
        ({"TORCHELASTIC_RUN_ID": "none"}, Scheduler()),
        (
            {"TORCHELASTIC_RUN_ID": "a/b", "TORCHELASTIC_RESTART_COUNT": "2", "RANK": "3"},
            Scheduler(name="torchelastic", job="a/b", restart=(0, 2), task=3, is_task=True),
        ),
        (
            {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "1", "SLURM_PROCID": "2", "SLURM_JOB_END_TIME": "99"},
            Scheduler(name="slurm", job="7.1", task=2, is_task=True, ends_at=99),
        ),
        ({"SLURM_JOB_ID": "7", "SLURM_PROCID": "0"}, Scheduler(name="slurm", job="7")),
        ({"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": "x"}, Scheduler(name="slurm", job="7")),
    ],
)
def test_the_scheduler_is_read_from_the_environment(environment: dict[str, str], expected: Scheduler) -> None:
    assert scheduler(environment) == expected
