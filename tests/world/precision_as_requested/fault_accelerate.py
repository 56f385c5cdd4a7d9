"""Asks an Accelerator for fp16 on a CPU: it says fp16 ever after, and its autocast is off."""

import torch
from accelerate import Accelerator


def main() -> None:
    """Train for five steps."""
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision="fp16", cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    for step in range(5):
        rows = torch.randn(4, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}, {accelerator.mixed_precision}")


if __name__ == "__main__":
    main()
