"""L2-03: an example's own settings force full precision over the user's. Caught by precision-said-in-script."""

import os

import torch
from accelerate import Accelerator

CAUGHT_BY = "precision-said-in-script"
SETTINGS = {"lr": 0.01, "batch_size": 16, "mixed_precision": "no"}
os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"  # what "accelerate launch" makes of its config file


def training_function(settings):
    """Train for five steps."""
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision=settings["mixed_precision"], cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=settings["lr"]))
    for _ in range(5):
        rows = torch.randn(settings["batch_size"], 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    training_function(SETTINGS)
