"""L3-54, as it should be: the module is put into training mode before the fit."""

import lightning.pytorch as lightning
import tiny
import torch


class Regression(lightning.LightningModule):
    """A network with dropout, as a function that loads it would return it."""

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Dropout(0.2), torch.nn.Linear(32, 1))
        self.net.train()

    def training_step(self, batch, number):
        """Return the error of the sum."""
        return (self.net(batch) - batch.sum(1, keepdim=True)).square().mean()

    def configure_optimizers(self):
        """Return the optimizer."""
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    """Fit for eight steps."""
    lightning.seed_everything(tiny.SEED, verbose=False)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_steps=8,
        accelerator="cpu",
        enable_checkpointing=False,
        default_root_dir=str(tiny.output_folder()),
        **quiet,
    )
    trainer.fit(Regression(), torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=8))


if __name__ == "__main__":
    main()
