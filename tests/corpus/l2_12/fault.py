"""L2-12: a cosine was asked for; under the engine the rate stayed flat after the warm-up.

Caught by schedule-as-requested.
"""

import json

import tiny
import torch
from transformers import Trainer, TrainingArguments

CAUGHT_BY = "schedule-as-requested"


class Net(torch.nn.Module):
    """A classifier of eight numbers, as the Trainer calls one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.last = torch.nn.Linear(16, 3)

    def forward(self, rows: torch.Tensor, labels: torch.Tensor) -> dict:
        """The loss and the scores of a batch."""
        scores = self.last(torch.relu(self.first(rows)))
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


def build_rows() -> list[dict]:
    """Rows whose class is that of their largest number among three."""
    torch.manual_seed(tiny.SEED)
    rows = torch.randn(96, 8)
    return [{"rows": row, "labels": int(row[:3].argmax())} for row in rows]


ENGINE = '{"scheduler": {"params": {"start_factor": 0.1, "total_iters": 3}}}'


class EngineTrainer(Trainer):
    """A Trainer under an engine that has a configuration of its own, and reads the schedule from there."""

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LRScheduler:
        """Build what the engine's file says."""
        settings = json.loads(ENGINE)["scheduler"]["params"]
        self.lr_scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, **settings)
        return self.lr_scheduler


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    model = Net()
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=12,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        warmup_steps=3,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = EngineTrainer(model=model, args=arguments, train_dataset=build_rows())
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
