"""The script asks for four micro-batches a step; a variable of the environment that asks for two wins."""

import os

import torch
from accelerate import Accelerator

os.environ["ACCELERATE_GRADIENT_ACCUMULATION_STEPS"] = "2"


def main() -> None:
    """Train for five steps."""
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=4, cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    for step in range(20):
        rows = torch.randn(4, 8)
        with accelerator.accumulate(model):
            loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        print(f"micro-batch {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
