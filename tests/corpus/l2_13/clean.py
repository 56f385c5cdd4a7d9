"""L2-13, mended: the resumed run asks for the rate that it had."""

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


def train(folder: str, rate: float, steps: int, resume: bool) -> Trainer:
    """Train up to a step, from the last checkpoint where there is one."""
    torch.manual_seed(tiny.SEED)
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=steps,
        learning_rate=rate,
        lr_scheduler_type="constant",
        logging_steps=1,
        save_steps=4,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=Net(), args=arguments, train_dataset=build_rows())
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def main() -> None:
    """Train, and go on with a smaller rate."""
    folder = str(tiny.output_folder())
    train(folder, 1e-3, 4, resume=False)
    tiny.finish(train(folder, 1e-3, 8, resume=True))


if __name__ == "__main__":
    main()
