"""``lint`` and what it refuses: the parameter that is gone is told in seconds, whatever kind of file it stands in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.desk import Desk

PYTHON = ("--python", sys.executable)
SCRIPT = """
import os

print("forty minutes of encoding", flush=True)
if "STOP_HERE" in os.environ:
    raise SystemExit(3)

from trl import SFTConfig, TrlParser

parser = TrlParser((SFTConfig,))
(args,) = parser.parse_args_and_config()
"""
GONE = "output_dir: out\nlearning_rate: 0.0003\nwarmup_ratio: 0.1\nmax_length: 512\nmax_steps: 10\nlogging_steps: 1\n"
RIGHT = GONE.replace("warmup_ratio", "warmup_steps")


@pytest.fixture
def seed(project: Desk) -> Desk:
    """The seed's own story: a ratio that is in range, and a library that has no such parameter any more."""
    (project.root / "sft.py").write_text(SCRIPT)
    (project.root / "sft.yaml").write_text(GONE)
    commit(project.root)
    return project


def commit(root: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-q", "-m", "again"], cwd=root, check=True)


def test_a_parameter_that_is_gone_is_told_with_its_successor(seed: Desk) -> None:
    said = seed.type("lint", *PYTHON, "sft.py", "sft.yaml")
    assert said.exit_code == 1
    assert "sft.yaml:3" in said.output and "warmup_ratio" in said.output
    assert "warmup_steps" in " ".join(said.output.split())


def test_the_right_name_is_quiet(seed: Desk) -> None:
    (seed.root / "sft.yaml").write_text(RIGHT)
    said = seed.type("lint", *PYTHON, "sft.py", "sft.yaml")
    assert said.exit_code == 0
    assert len(said.output.strip().splitlines()) <= 2 and "trl 1.16.0" in said.output.replace("\n", " ")


def test_run_refuses_before_anything_slow_and_nothing_of_the_script_ran(seed: Desk) -> None:
    command = ("--", sys.executable, "sft.py", "--config", "sft.yaml")
    refused = seed.start("run", *command)
    assert refused.returncode == 1 and refused.stdout == ""
    assert "warmup_ratio" in refused.stderr and "--names tell" in refused.stderr
    assert "REFUSED before it started" in seed.type("show", "last").output
    told = seed.start("run", "--names", "tell", *command, STOP_HERE="1")
    assert told.stdout == "forty minutes of encoding\n" and told.returncode == 3


def test_a_waiver_lets_the_command_start(seed: Desk) -> None:
    waiver = '[[waiver]]\ntarget = "names-known"\nreason = "a fork takes it"\nauthor = "me"\nuntil = 2999-01-01\n'
    (seed.root / "affidavit.toml").write_text(waiver)
    commit(seed.root)
    started = seed.start("run", "--", sys.executable, "sft.py", "--config", "sft.yaml", STOP_HERE="1")
    assert "forty minutes of encoding" in started.stdout
    assert seed.type("lint", *PYTHON, "sft.py", "sft.yaml").exit_code == 0


def test_the_documents_say_the_same_as_the_text(seed: Desk) -> None:
    document = json.loads(seed.type("lint", *PYTHON, "--json", "sft.py", "sft.yaml").output)
    (site,) = next(found for found in document["findings"] if found["check"] == "names-known")["sites"]
    assert (site["path"], site["line"]) == ("sft.yaml", 3)
    assert document["decision"]["exit_code"] == 1
    log = json.loads(seed.type("lint", *PYTHON, "--sarif", "sft.py", "sft.yaml").output)
    failing = [result for result in log["runs"][0]["results"] if result["kind"] == "fail"]
    assert [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in failing] == [3]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("broken.py", "from transformers import (\n", "broken.py"),
        ("broken.yaml", "learning_rate: [1\n", "broken.yaml"),
        ("absent.py", "import deepspeed\n\ndeepspeed.initialize(modle=1)\n", "deepspeed"),
    ],
)
def test_what_cannot_be_read_is_a_finding_and_no_crash(project: Desk, name: str, text: str, said: str) -> None:
    (project.root / name).write_text(text)
    ended = project.type("lint", *PYTHON, name)
    assert ended.exit_code == 4 and said in ended.output and "UNKNOWN" in ended.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.py",), "expected a file or a folder"),
        (("--python", "no-such-python", "train.py"), "no program 'no-such-python'"),
        (("--json", "--sarif", "train.py"), "two documents"),
        (("--sarif", "--against", "trl==1", "train.py"), "no SARIF log"),
    ],
)
def test_what_cannot_be_asked_is_refused(project: Desk, words: tuple[str, ...], said: str) -> None:
    ended = project.type("lint", *words)
    assert ended.exit_code == 2 and said in ended.output


def test_a_folder_without_anything_to_read_is_no_pass(project: Desk) -> None:
    (project.root / "empty").mkdir()
    ended = project.type("lint", "empty")
    assert ended.exit_code == 2 and "no pass" in ended.output


def test_a_command_whose_python_is_chosen_by_another_program_is_not_judged(seed: Desk) -> None:
    manager = seed.root / "uv"
    manager.write_text("#!/bin/sh\n")
    manager.chmod(0o755)
    command = ("./uv", "run", "sft.py", "--config", "sft.yaml")
    facts = json.loads(seed.type("check", "--project", "--json", "--", *command).stdout)["facts"]
    told = {fact["term"]: fact["resolved"] for fact in facts}
    assert "uv chooses the Python that trains" in json.dumps(told["names.unknown"])


def test_a_reader_of_ours_that_fails_keeps_no_command_from_starting(
    project: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("affidavit.run.names.lint", fails)
    ended = project.type("check", "--project", "--json", "--", sys.executable, "train.py")
    told = {fact["term"]: fact["resolved"] for fact in json.loads(ended.stdout)["facts"]}
    assert "RecursionError: too deep" in json.dumps(told["names.unknown"])
    assert "INSTRUMENT_FAILED" in json.dumps(told["fields.unread"])
