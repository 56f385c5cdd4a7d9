"""L3-55: validation ends with train(), and frozen norms are updated again. Caught by frozen-norms-rest."""

import lightning.pytorch as lightning
import tiny
import torch

CAUGHT_BY = "frozen-norms-rest"


class Classifier(lightning.LightningModule):
    """A frozen backbone whose norm was put to rest, and a head that trains."""

    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
        self.head = torch.nn.Linear(8, 2)
        self.backbone.requires_grad_(False).eval()

    def forward(self, images):
        """Return the scores of two classes."""
        return self.head(self.backbone(images).mean((2, 3)))

    def training_step(self, batch, number):
        """Return the loss on whether an image is bright."""
        (images,) = batch
        return torch.nn.functional.cross_entropy(self(images), (images.mean((1, 2, 3)) > 1.0).long())

    def validation_step(self, batch, number):
        """Do as in training."""
        self.log("validation_loss", self.training_step(batch, number))

    def on_validation_model_train(self):
        """Go back to training, all of it, as the loop itself once did."""
        self.train()

    def configure_optimizers(self):
        """Return the optimizer."""
        return torch.optim.SGD(self.head.parameters(), lr=0.01)


def main():
    """Fit for twelve steps, and validate after each four."""
    lightning.seed_everything(tiny.SEED, verbose=False)
    images = torch.utils.data.TensorDataset(torch.randn(48, 3, 8, 8) + 1.0)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_steps=12,
        accelerator="cpu",
        val_check_interval=4,
        num_sanity_val_steps=0,
        enable_checkpointing=False,
        default_root_dir=str(tiny.output_folder()),
        **quiet,
    )
    loader = torch.utils.data.DataLoader(images, batch_size=4)
    trainer.fit(Classifier(), loader, loader)


if __name__ == "__main__":
    main()
