"""A forked case is a process of its own: its launch, its exit code, its output, its record."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from server import Server

from affidavit.fact import folder as names
from affidavit.fact.journal import Reading, read
from affidavit.fact.observation import Known

HERE = Path(__file__).parent


def _launch(folder: Path, **details: object) -> Path:
    folder.mkdir()
    path = names.launch(folder, 0)
    path.write_text(
        json.dumps({"run": folder.name, "folder": str(folder), "spool": str(folder), "format": 1} | details)
    )
    return path


def _said(reading: Reading, term: str) -> object:
    (state,) = [seen.state for seen in reading.observations if seen.term == term]
    assert isinstance(state, Known), state
    return state.value


def test_each_case_has_its_own_record(world_server: Server, tmp_path: Path) -> None:
    cases = {}
    for name in ("fault", "clean"):
        script = HERE / "adapter_targets_matched" / f"{name}.py"
        cases[name] = world_server.start(script, (str(tmp_path / f"out-{name}"),), launch=_launch(tmp_path / name))
    for name, case in cases.items():
        ended = world_server.wait(case)
        assert ended.returncode == 0, ended.stderr
        assert "loss 5.943" in ended.stdout
        (journal,) = names.journals(tmp_path / name)
        assert (tmp_path / name / "hello").exists()
        matched = _said(read(journal), "adapter.matched")
        assert ("gate_up_proj" in dict(matched.counts)) == (name == "fault")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("script", "returncode"),
    [
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import sys; assert sys.argv[1:] == ['one']; import atexit; atexit.register(print, 'left')", 0),
    ],
)
def test_a_case_ends_as_a_process_would(world_server: Server, tmp_path: Path, script: str, returncode: int) -> None:
    path = tmp_path / "script.py"
    path.write_text(script)
    ended = world_server.run(path, ("one",), launch=_launch(tmp_path / "run"))
    assert ended.returncode == returncode, ended.stderr
    assert ("ZeroDivisionError" in ended.stderr) == (returncode == 1)
    assert (ended.stdout == "left\n") == (returncode == 0)
    assert not names.journals(tmp_path / "run")
