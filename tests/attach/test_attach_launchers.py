"""Every way to start a training is reached: one hello, one journal a rank that trained, and each knows its rank."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from twice import SCRIPTS, Ran, Runner, script

BIN = Path(sys.executable).parent
FAMILY = script("family.py")


def _reached(ran: Ran, ranks: int = 1) -> None:
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "affidavit" not in (ran.stdout + ran.stderr).lower()
    assert (ran.spool / "hello").exists()
    assert not (ran.spool / "hello.refused").exists()
    assert sorted((journal.rank, journal.world) for journal in ran.journals) == [(rank, ranks) for rank in range(ranks)]
    for journal in ran.journals:
        assert journal.live_step == 2
        assert journal.closed == "exited"
        assert not journal.lost


@pytest.mark.parametrize(
    "command",
    [
        (FAMILY, "launched"),
        ("-m", "family", "launched"),
        ("-c", "import sys, family; sys.argv[1:] = ['launched']; family.main('launched')"),
        ("-u", "-W", "error", FAMILY, "launched"),
    ],
    ids=["script", "module", "code", "flags"],
)
def test_python(fresh_runner: Runner, command: tuple[str, ...]) -> None:
    _reached(fresh_runner.observed(*command))


def test_torchrun(fresh_runner: Runner) -> None:
    ran = fresh_runner.observed(str(BIN / "torchrun"), "--nproc-per-node=2", "--standalone", FAMILY, "launched")
    _reached(ran, ranks=2)
    assert {journal.bound["backend"] for journal in ran.journals} == {"gloo"}


def test_accelerate_launch(fresh_runner: Runner) -> None:
    """The launcher imports torch and builds what a trainer builds; only the script it starts trains."""
    options = ("--cpu", "--num_processes=1", "--num_machines=1", "--mixed_precision=no", "--dynamo_backend=no")
    _reached(fresh_runner.observed(str(BIN / "accelerate"), "launch", *options, FAMILY, "launched"))


def test_trl_sft(fresh_runner: Runner, tmp_path: Path) -> None:
    """The command line of TRL starts Accelerate's launcher, which starts TRL's own script."""
    made = fresh_runner.bare(
        "-c", "import sys, tiny; from pathlib import Path; tiny.write_base(Path(sys.argv[1]))", str(tmp_path)
    )
    assert made.returncode == 0, made.stderr
    rows = tmp_path / "rows"
    rows.mkdir()
    turns = [{"role": "user", "content": "What?"}, {"role": "assistant", "content": "That is blue."}]
    (rows / "train.jsonl").write_text("\n".join(json.dumps({"messages": turns}) for _ in range(16)))
    told = {
        "--model_name_or_path": str(tmp_path / "base"),
        "--dataset_name": str(rows),
        "--output_dir": str(tmp_path / "trained"),
        "--max_steps": "3",
        "--report_to": "none",
        "--use_cpu": "true",
        "--bf16": "false",
        "--save_strategy": "no",
    }
    words = [word for pair in told.items() for word in pair]
    ran = fresh_runner.observed(str(BIN / "trl"), "sft", *words, environment={"ACCELERATE_USE_CPU": "true"})
    _reached(ran)
    assert ran.journal.episodes[0].driver == "transformers.Trainer"
    assert ran.known("tokens.supervision_requested") == "unstated"
    ran.known("tokens.rows_examined")


def test_a_subprocess_of_a_script_that_trains_nothing(fresh_runner: Runner) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, sys.argv[1], 'launched'], check=True)"
    _reached(fresh_runner.observed("-c", code, FAMILY))


def test_a_cleaned_environment_is_not_reached_and_nothing_breaks(fresh_runner: Runner) -> None:
    path = os.pathsep.join((str(SCRIPTS), os.environ["PATH"]))
    ran = fresh_runner.observed("-S", "-c", "print(1)", before=("env", "-i", f"PATH={path}"))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1\n", "")
    assert not (ran.spool / "hello").exists()
