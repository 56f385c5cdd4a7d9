"""L2-09: the schedule in the engine's json won over the one that the script built.

Caught by schedule-as-requested.
"""

import json

import tiny
import torch
from transformers import Trainer, TrainingArguments, get_cosine_schedule_with_warmup

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


ENGINE = '{"scheduler": {"params": {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 12}}}'


def prepare(optimizer: torch.optim.Optimizer, scheduler: object) -> tuple:
    """Return the two as an engine does: the optimizer of the script, and the schedule of the engine's own file."""
    settings = json.loads(ENGINE)["scheduler"]["params"]
    return optimizer, torch.optim.lr_scheduler.LinearLR(optimizer, **settings)


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = get_cosine_schedule_with_warmup(optimizer, 0, 12)
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=12,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    pair = prepare(optimizer, scheduler)
    trainer = Trainer(model=model, args=arguments, train_dataset=build_rows(), optimizers=pair)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
