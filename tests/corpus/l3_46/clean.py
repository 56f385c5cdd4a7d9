"""L3-46, mended: the norms are called norm."""

import tiny
import torch
from transformers import Trainer, TrainingArguments


class Rms(torch.nn.Module):
    """A norm of the model's own."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows, each of mean square one."""
        return self.weight * rows / rows.square().mean(-1, keepdim=True).add(1e-6).sqrt()


class Net(torch.nn.Module):
    """A classifier of eight numbers, as the Trainer calls one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.norm = Rms(16)
        self.last = torch.nn.Linear(16, 3)

    def forward(self, rows: torch.Tensor, labels: torch.Tensor) -> dict:
        """The loss and the scores of a batch."""
        scores = self.last(torch.relu(self.norm(self.first(rows))))
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(tiny.SEED)
    rows = torch.randn(96, 8)
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=8,
        learning_rate=1e-2,
        weight_decay=0.1,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    examples = [{"rows": row, "labels": int(row[:3].argmax())} for row in rows]
    trainer = Trainer(model=Net(), args=arguments, train_dataset=examples)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
