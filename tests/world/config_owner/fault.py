"""The launcher's file asks for bf16; the default of a parser, which nobody typed, is handed on and wins."""

import argparse
import os
import sys

import torch
from accelerate import Accelerator

os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"  # as "accelerate launch" with a config file does


def main() -> None:
    """Train for five steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", nargs="?")
    parser.add_argument("--mixed_precision", default="no", choices=["no", "fp16", "bf16"])
    options = parser.parse_args(sys.argv[1:])
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision=options.mixed_precision, cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    for step in range(5):
        rows = torch.randn(4, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
