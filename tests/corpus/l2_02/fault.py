"""L2-02: a parser's default overrules the launcher's config. Caught by precision-said-in-script."""

import argparse
import os

import torch
from accelerate import Accelerator

CAUGHT_BY = "precision-said-in-script"
os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"  # what "accelerate launch" makes of its config file


def main():
    """Train for five steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", nargs="?")
    parser.add_argument("--mixed_precision", choices=["no", "fp16", "bf16"], default="no")
    options = parser.parse_args()
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision=options.mixed_precision, cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    for _ in range(5):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
