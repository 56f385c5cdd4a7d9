"""A real Trainer in an evaluation: one that comes on lives, however long it takes, and one that hangs is called so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from run_world import Project, wait_for
from watched import Shell

SCRIPT = """
import sys, time
from pathlib import Path
import torch
from transformers import Trainer, TrainingArguments

HERE = Path(sys.argv[1])
ROWS = [{"x": torch.tensor([1.0, row]), "labels": torch.tensor([1.0])} for row in range(4000)]

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 1)
    def forward(self, x, labels=None):
        if not self.training:
            (HERE / "evaluates").touch()
            time.sleep(0.2)
            while (HERE / "hang").exists():
                time.sleep(0.1)
        found = self.line(x)
        return {"loss": (found - labels).square().mean(), "logits": found}

asked = TrainingArguments(output_dir=str(HERE / "out"), max_steps=4, eval_strategy="steps", eval_steps=3,
    per_device_train_batch_size=2, per_device_eval_batch_size=4, report_to=[], disable_tqdm=True, use_cpu=True)
Trainer(model=Net(), args=asked, train_dataset=ROWS, eval_dataset=ROWS).train()
"""


def watched(folder: Path, *words: str) -> tuple[int, str]:
    """Return what the command itself says, with its exit code."""
    line = [sys.executable, "-m", "affidavit.cli", "watch", folder.name, *words]
    environment = {**os.environ, "PYTHONPATH": ""}
    ended = subprocess.run(line, cwd=folder.parents[2], env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, " ".join((ended.stdout + ended.stderr).split())


def test_an_evaluation_that_comes_on_lives_and_one_that_hangs_is_stalled(shell: Shell, project: Project) -> None:
    (project.root / "evaluates.py").write_text(SCRIPT)
    folder = shell(f"exec {sys.executable} $HERE/evaluates.py $HERE", trains=False)
    wait_for(lambda: (project.root / "evaluates").exists(), seconds=60)
    code, said = watched(folder)
    assert (code, said.partition(" ")[0]) == (0, "ALIVE")
    assert "at step 3, in an evaluation" in said and "an evaluation may take 1,800 s" in said
    time.sleep(2)  # the evaluation has taken longer than the next limit then, and no batch of it has
    code, said = watched(folder, "--within", "2")
    assert (code, said.partition(" ")[0]) == (0, "ALIVE"), said
    (project.root / "hang").touch()
    wait_for(lambda: watched(folder, "--within", "2")[0] == 1, seconds=30)
    code, said = watched(folder, "--within", "2")
    assert (code, said.partition(" ")[0]) == (1, "STALLED")
    assert "at step 3, in an evaluation, has not come on for" in said and "an evaluation may take 2 s" in said
