"""Asks Lightning for 16-mixed, which on a CPU becomes bfloat16."""

import lightning.pytorch as lightning
import tiny
import torch


class Regression(lightning.LightningModule):
    """A network that learns a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def training_step(self, batch, number):
        """Return the error of the sum."""
        return (self.net(batch) - batch.sum(1, keepdim=True)).square().mean()

    def configure_optimizers(self):
        """Return the optimizer."""
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main() -> None:
    """Fit for eight steps."""
    lightning.seed_everything(tiny.SEED, verbose=False)
    trainer = lightning.Trainer(
        max_steps=8,
        precision="16-mixed",
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(tiny.output_folder()),
    )
    trainer.fit(Regression(), torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=8))


if __name__ == "__main__":
    main()
