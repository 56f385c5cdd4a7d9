"""L2-11, mended: the engine's json says nothing of the schedule."""

import tiny
import torch
from transformers import Trainer, TrainingArguments


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


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    model = Net()
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=12,
        learning_rate=1e-3,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr": 1e-4},
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=build_rows())
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
