"""L3-13: the Trainer's own scheduler moved once for each of four ranks: the rate was at its end early.

Caught by schedule-spans-run.
"""

import tiny
import torch
from transformers import Trainer, TrainingArguments, get_linear_schedule_with_warmup

CAUGHT_BY = "schedule-spans-run"
RANKS = 4


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


class Prepared:
    """A scheduler as a library hands it back to each of some ranks: its step is a step of all of them."""

    def __init__(self, scheduler: torch.optim.lr_scheduler.LRScheduler, ranks: int) -> None:
        self.scheduler, self.ranks = scheduler, ranks

    def step(self) -> None:
        """Move once for each rank."""
        for _ in range(self.ranks):
            self.scheduler.step()

    def get_last_lr(self) -> list[float]:
        """The rate of each group."""
        return self.scheduler.get_last_lr()

    def state_dict(self) -> dict:
        """What a checkpoint holds."""
        return self.scheduler.state_dict()


class RankedTrainer(Trainer):
    """A Trainer whose scheduler went through the same preparation as its optimizer."""

    def create_scheduler(self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None) -> Prepared:
        """Build a schedule for the steps of the training."""
        bare = get_linear_schedule_with_warmup(self.optimizer, 0, num_training_steps)
        self.lr_scheduler = Prepared(bare, RANKS)
        return self.lr_scheduler


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    model = Net()
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=16,
        learning_rate=1e-3,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = RankedTrainer(model=model, args=arguments, train_dataset=build_rows())
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
