"""L2-08: a warm-up without a peak of its own put the default 0.001 in the place of the rate that was asked for.

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


ENGINE = '{"scheduler": {"params": {"warmup_num_steps": 4}}}'


class WarmupLR(torch.optim.lr_scheduler.LRScheduler):
    """Warms up to its own peak, whatever the optimizer was given."""

    def __init__(
        self, optimizer: torch.optim.Optimizer, warmup_max_lr: float = 0.001, warmup_num_steps: int = 1000
    ) -> None:
        self.warmup_max_lr, self.warmup_num_steps = warmup_max_lr, warmup_num_steps
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        """The rate of each group."""
        share = min(1.0, (self.last_epoch + 1) / self.warmup_num_steps)
        return [self.warmup_max_lr * share for _ in self.optimizer.param_groups]


class EngineTrainer(Trainer):
    """A Trainer under an engine that reads the schedule from a configuration of its own."""

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LRScheduler:
        """Build what the engine's file says."""
        settings = json.loads(ENGINE)["scheduler"]["params"]
        self.lr_scheduler = WarmupLR(self.optimizer, **settings)
        return self.lr_scheduler


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    model = Net()
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=12,
        learning_rate=5e-5,
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
