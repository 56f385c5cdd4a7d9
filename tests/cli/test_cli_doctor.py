"""What ``doctor`` says of environments that it can and cannot see into."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.desk import Desk


def said(desk: Desk, *words: str) -> dict[str, tuple[str, str]]:
    return {one["about"]: (one["sight"], one["said"]) for one in desk.document("doctor", *words)["environment"]}


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_this_interpreter_attaches_and_nothing_is_left_behind(project: Desk) -> None:
    found = said(project, "--python", sys.executable)
    assert found["attaches"][0] == "clear" and sys.executable in found["attaches"][1]
    assert found["run folders"] == ("clear", str(project.root / ".affidavit" / "runs"))
    assert found["git"][0] == "clear" and str(project.root) in found["git"][1]
    assert not (project.root / ".affidavit").exists()


def test_no_framework_is_imported_to_find_out(project: Desk, tmp_path: Path) -> None:
    for name in ("torch", "transformers"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('it was loaded')\n")
    ended = project.start(
        "doctor", "--python", sys.executable, PYTHONPATH=f"{project.environment['PYTHONPATH']}:{tmp_path}"
    )
    assert ended.returncode == 0 and "it was loaded" not in ended.stdout + ended.stderr


def test_an_interpreter_that_ignores_us_is_named_blind(project: Desk, tmp_path: Path) -> None:
    isolated = script(tmp_path / "isolated", f'exec {sys.executable} -I "$@"')
    ended = project.type("doctor", "--python", isolated)
    assert ended.exit_code == 4
    assert "✗ attaches" in ended.stdout and "ignores PYTHONPATH" in " ".join(ended.stdout.split())


@pytest.mark.parametrize(
    ("body", "saw"),
    [("exit 7", "exit code 7"), ("echo hello", "JSONDecodeError"), ("kill -9 $$", "exit code -9")],
)
def test_an_interpreter_that_does_not_answer_gives_one_error(
    project: Desk, tmp_path: Path, body: str, saw: str
) -> None:
    ended = project.type("doctor", "--python", script(tmp_path / "python", body))
    assert ended.exit_code == 2 and saw in ended.stderr and "--python PATH" in ended.stderr


def test_an_interpreter_that_is_not_there_gives_one_error(project: Desk) -> None:
    ended = project.type("doctor", "--python", "no-such-python")
    assert ended.exit_code == 2 and "no such program" in ended.stderr


def test_an_environment_in_which_nothing_trains_is_said_to_be_one(project: Desk, tmp_path: Path) -> None:
    bare = script(tmp_path / "bare", f'exec {sys.executable} -S "$@"')
    found = said(project, "--python", bare)
    assert found["frameworks"][0] == "none" and "nothing that trains would be seen" in found["frameworks"][1]


@pytest.mark.parametrize(
    ("name", "about", "text", "saw"),
    [
        ("affidavit.toml", "toml", 'treee = "refuse"', 'did you mean "tree"'),
        ("affidavit.lock", "lock", "garbage [[", "Expected '='"),
    ],
)
def test_a_file_that_would_stop_every_run_is_told_before_one_is_started(
    project: Desk, name: str, about: str, text: str, saw: str
) -> None:
    assert about not in said(project, "--python", sys.executable)
    (project.root / name).write_text(text)
    sight, words = said(project, "--python", sys.executable)[about]
    assert sight == "none" and saw in words
    (project.root / name).write_text("format = 1\n" if about == "lock" else "[tree]\n")
    assert said(project, "--python", sys.executable)[about] == ("clear", str(project.root / name))


def test_where_files_go_is_told_with_the_variable_that_moves_them(project: Desk, tmp_path: Path) -> None:
    project.environment["AFFIDAVIT_DIR"] = str(tmp_path / "elsewhere")
    assert said(project, "--python", sys.executable)["run folders"][1] == str(tmp_path / "elsewhere" / "runs")
