"""What a command line says, what is prepared for it, and what of it can be read later."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from run_world import Project, wait_for

from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.record.fold import read_record
from affidavit.record.manifest import Status
from affidavit.record.record import Fact
from affidavit.run import attempt as attempts
from affidavit.run.attempt import AttemptError, read_attempts
from affidavit.run.command import read_command
from affidavit.run.launch import SITE
from affidavit.run.sealing import SealingError, ensure_sealed
from affidavit.run.spool import is_spool, publish
from affidavit.run.supervise import supervise

# --- commands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "script", "module", "recipe"),
    [
        (("python", "train.py", "--lr", "1"), "train.py", "", "train"),
        (("python", "-W", "error", "train.py", "--config=sft.yaml"), "train.py", "", "train:sft"),
        (("launch", "--nproc=2", "train.py", "sft.yaml"), "train.py", "", "train:sft"),
        (("launch", "--config_file", "sft.yaml", "train.py"), "train.py", "", "train"),
        (("python", "-m", "pack.main", "x"), "", "pack.main", "pack.main"),
        (("python", "-m", "somebodys.launcher", "train.py"), "train.py", "", "train"),
        (("python", "app"), "app/__main__.py", "", "app"),
        (("./tool", "x"), "tool", "", "tool"),
        (("launch", "sft", "--config", "sft.yaml"), "", "", "launch-sft:sft"),
        (("python", "-c", "1"), "", "", "python"),
    ],
)
def test_a_command_line_says_what_it_runs(
    project: Project, argv: tuple[str, ...], script: str, module: str, recipe: str
) -> None:
    root = project.root
    (root / "bin").mkdir()
    (root / "app").mkdir()
    (root / "pack").mkdir()
    for name in ("train.py", "pack/__init__.py", "pack/main.py", "app/__main__.py", "sft.yaml"):
        (root / name).write_text("")
    for name, line in (
        ("bin/python", "#!/bin/sh"),
        ("bin/launch", f"#!{sys.executable}"),
        ("tool", f"#!{sys.executable}"),
    ):
        (root / name).write_text(f"{line}\n")
        (root / name).chmod(0o755)
    command = read_command(argv, cwd=root, environment={"PATH": str(root / "bin")})
    assert command.script == (root / script if script else None)
    assert (command.module, command.recipe) == (module, recipe)
    expected = Path(sys.executable) if argv[0] in ("launch", "./tool") else root / "bin/python"
    assert command.interpreter == expected


# --- what is prepared, and what cannot be read -----------------------------------------------------------------


def test_an_attempt_is_prepared_with_two_names_in_its_environment_and_no_secret_on_disk(project: Project) -> None:
    secret = "hf_" + "a" * 34
    project.environment |= {"PYTHONPATH": "/a:/b", "AFFIDAVIT_KEY_PASSWORD": "open sesame"}
    prepared = project.prepare("true", "--token", secret, "--api-key=" + secret)
    changed = {name for name in prepared.environment if prepared.environment[name] != project.environment.get(name)}
    assert changed == {"PYTHONPATH", VARIABLE}
    assert set(project.environment) - set(prepared.environment) == {"AFFIDAVIT_KEY_PASSWORD"}
    assert prepared.environment["PYTHONPATH"] == f"{SITE}:/a:/b"
    launch = Launch.read(Path(prepared.environment[VARIABLE]))
    assert (launch.run, launch.folder, launch.spool) == (prepared.start.run, str(prepared.folder), str(prepared.spool))
    assert (project.root / ".affidavit" / ".gitignore").read_text() == "*\n"
    for place in (prepared.folder, prepared.spool):
        for path in place.rglob("*"):
            assert not path.is_file() or secret not in path.read_text()


def test_a_folder_of_the_users_gets_no_gitignore_of_ours(project: Project, tmp_path: Path) -> None:
    project.environment["AFFIDAVIT_DIR"] = str(tmp_path / "shared")
    (tmp_path / "shared").mkdir()
    prepared = project.prepare("true")
    assert prepared.folder.parent == tmp_path / "shared" / "runs"
    assert not (tmp_path / "shared" / ".gitignore").exists()
    assert (tmp_path / "shared" / "runs" / ".gitignore").read_text() == "*\n"


def test_a_word_that_is_no_text_does_not_stop_the_record(project: Project) -> None:
    prepared = project.prepare("true", os.fsdecode(b"caf\xe9"))
    assert read_attempts(prepared.folder)[0].start.command == ("true", "caf\\udce9")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Input data was truncated"),
        ('{"format": 1}', "missing required field"),
        ('{"format": 2}', "expected format 1 (this version), saw 2"),
        ("[]", "Expected `object`"),
        ("\x00\x01", "malformed"),
    ],
)
def test_an_attempt_that_cannot_be_read_is_one_clear_error(project: Project, text: str, said: str) -> None:
    prepared = project.prepare("true")
    path = prepared.folder / "attempt.0.0.json"
    path.chmod(0o644)
    path.write_text(text)
    with pytest.raises(AttemptError) as refused:
        ensure_sealed(prepared.folder)
    assert said in str(refused.value) and "attempt.0.0.json" in str(refused.value)
    assert "Not affected:" in str(refused.value)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "ended.0.0.json",
            '{"format":1,"status":"MELTED","code":0,"signal":0,"ended":"2026-01-01T00:00:00Z"}',
            "MELTED",
        ),
        (
            "ended.0.0.json",
            '{"format":1,"status":"FINISHED","code":3,"signal":0,"ended":"2026-01-01T00:00:00Z"}',
            "exit code 3",
        ),
        (
            "ended.0.0.json",
            '{"format":1,"status":"FAILED","code":0,"signal":0,"ended":"2026-01-01T00:00:00Z"}',
            "exit code 0",
        ),
        (
            "ended.0.0.json",
            '{"format":1,"status":"FINISHED","code":0,"signal":0,"ended":"2026-01-01T00:00:00"}',
            "timezone",
        ),
        ("child.0.0.json", '{"format":1}', "missing required field"),
    ],
)
def test_a_supervisors_word_that_nobody_says_is_one_clear_error(
    project: Project, file: str, text: str, said: str
) -> None:
    prepared = project.prepare("true")
    assert supervise(prepared).code == 0
    for place in (prepared.folder, prepared.spool):
        (place / file).write_text(text)
    with pytest.raises(AttemptError, match=re.escape(file)) as refused:
        ensure_sealed(prepared.folder)
    assert said in str(refused.value)


def test_a_pipe_under_a_name_of_ours_keeps_nobody_waiting(project: Project) -> None:
    prepared = project.prepare("true")
    assert supervise(prepared).code == 0
    for name in ("journal.0.h-1-1.jsonl", "heartbeat.0.h-1-1", "vetoes"):
        os.mkfifo(prepared.folder / name)
    (prepared.folder / "hello.refused").unlink(missing_ok=True)
    os.mkfifo(prepared.folder / "hello.refused")
    found = ensure_sealed(prepared.folder)
    assert any("no plain file" in note for note in found.notes)  # type: ignore[union-attr]


def test_what_was_stated_and_can_be_no_fact_is_a_note_and_seals(project: Project) -> None:
    prepared = project.prepare("true")
    known = [Known("lora", Method.INSPECTED, "x"), Known(3, Method.INSPECTED, "x"), Known("x", Method.INSPECTED, "x")]
    named = zip(("adapter.kind", "tree.gate", "no.such"), known)
    prepared.state([Fact(name=name, state=state) for name, state in named])
    assert supervise(prepared).code == 0
    found = ensure_sealed(prepared.folder)
    assert [note.partition(":")[0] for note in found.notes] == ["adapter.kind", "tree.gate", "no.such"]  # type: ignore[union-attr]
    assert read_record(prepared.folder).find("run.ranks")


def test_a_folder_of_the_users_that_an_attempt_calls_its_spool_is_left_alone(project: Project, tmp_path: Path) -> None:
    """It would be read as a spool, published, and then removed."""
    prepared = project.prepare("true")
    assert supervise(prepared).code == 0
    mine = tmp_path / f"affidavit-{os.geteuid()}" / prepared.start.run / "7"
    mine.mkdir(parents=True)
    (mine / "precious.txt").write_text("x")
    path = prepared.folder / "attempt.0.0.json"
    said = json.loads(path.read_text())
    path.chmod(0o644)
    path.write_text(json.dumps({**said, "spool": str(mine)}))
    ensure_sealed(prepared.folder)
    assert (mine / "precious.txt").read_text() == "x"
    assert not (prepared.folder / "precious.txt").exists()
    shutil.rmtree(prepared.spool)


@pytest.mark.parametrize("name", ["7/../0", "0", "1"])
def test_only_the_spool_of_that_very_attempt_is_one(tmp_path: Path, name: str) -> None:
    ours = tmp_path / f"affidavit-{os.geteuid()}" / "r"
    (ours / "0").mkdir(parents=True)
    (ours / "1").symlink_to(ours / "0")
    assert is_spool(ours / name, run="r", attempt=0) is (name == "0")
    assert not is_spool(ours / name, run="s", attempt=0)
    assert not is_spool(ours / "1", run="r", attempt=1), "a link"
    assert not is_spool(Path(), run="", attempt=0)


def test_without_what_the_supervisor_wrote_the_journals_alone_are_sealed(project: Project) -> None:
    supervisor = project.start(*project.light("--steps=2000"))
    project.beating()
    wait_for(lambda: project.step() > 3)
    spool = Path(read_attempts(project.only_run)[0].start.spool)
    os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.wait(10)
    publish(spool, project.only_run)
    (project.only_run / "attempt.0.0.json").unlink()
    (attempt,) = project.over().attempts
    assert attempt.status is Status.ABANDONED and attempt.last_step >= 3


def test_an_unreadable_journal_is_a_note_and_the_others_stand(project: Project) -> None:
    assert project.start(*project.light("--steps=4", "--ranks=2"), seals=False).wait(30) == 0
    names.journal(project.only_run, "h-1-1", 0).write_text('{"kind":"opened","format":9,"process":"h-1-1"}\n')
    found = ensure_sealed(project.only_run)
    assert any("expected journal format 1" in note for note in found.notes)  # type: ignore[union-attr]
    assert {one.rank for one in found.attempts[0].processes} == {0, 1}  # type: ignore[union-attr]


def test_a_folder_that_is_not_there_cannot_be_sealed(tmp_path: Path) -> None:
    with pytest.raises(SealingError, match="no such folder"):
        ensure_sealed(tmp_path / "nothing")


def test_a_folder_that_is_only_just_made_is_not_sealed_and_its_run_is(project: Project) -> None:
    """A list that comes between the making of the folder and its first file must not seal what has not begun."""
    (project.runs / "new").mkdir(parents=True)
    with pytest.raises(SealingError, match="only just being prepared"):
        ensure_sealed(project.runs / "new")
    assert not any((project.runs / "new").iterdir())


def test_a_pulse_is_seen_by_those_who_cannot_see_the_process(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("affidavit.run.companion.PULSE_SECONDS", 0.1)
    prepared = project.prepare("sleep", "1")
    before = read_attempts(prepared.folder)[0].pulse
    time.sleep(0.02)
    supervise(prepared)
    assert read_attempts(prepared.folder)[0].pulse > before + 0.1
    assert attempts.PULSE_SECONDS * 10 < attempts.STALE_SECONDS
