"""A Trainer that is resumed, or whose counter is put back: as a whole, or by half.

    counted.py FOLDER whole|half|back|counter

``half`` has lost the states of optimizer and scheduler; ``back`` goes back to what it saved after its second step, and
``counter`` puts nothing back but the counter.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments

ROWS = [{"x": torch.tensor([row / 8, 1.0]), "labels": torch.tensor([row % 2 * 1.0])} for row in range(64)]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Linear(2, 1)

    def forward(self, x, labels=None):
        found = self.line(x)
        return {"loss": (found - labels).square().mean(), "logits": found}


class GoesBack(TrainerCallback):
    """After step 5 the loop is put back to step 2, once."""

    def __init__(self, is_whole: bool) -> None:
        self.kept: dict = {}
        self.is_whole = is_whole

    def on_step_end(self, args, state, control, *, model, optimizer, **live):
        if state.global_step == 2 and not self.kept:
            self.kept = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
        elif state.global_step == 5 and "done" not in self.kept:
            self.kept["done"] = True
            state.global_step = 2
            if self.is_whole:
                model.load_state_dict(self.kept["model"])
                optimizer.load_state_dict(self.kept["optimizer"])


def trainer(folder: Path, steps: int, *callbacks: TrainerCallback) -> Trainer:
    asked = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        save_steps=3,
        per_device_train_batch_size=4,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        lr_scheduler_type="constant",
    )
    return Trainer(model=Net(), args=asked, train_dataset=ROWS, callbacks=list(callbacks))


def main() -> None:
    folder, case = Path(sys.argv[1]), sys.argv[2]
    if case in ("back", "counter"):
        trainer(folder, 8, GoesBack(case == "back")).train()
        return
    trainer(folder, 3).train()
    if case == "half":
        for name in ("optimizer.pt", "scheduler.pt"):
            (folder / "checkpoint-3" / name).unlink()
    trainer(folder, 6).train(resume_from_checkpoint=True)


if __name__ == "__main__":
    main()
