"""L3-16, as it should be: the device is asked when it is known, and has bfloat16."""

import torch
from accelerate import Accelerator

HAS_BFLOAT16 = True
"""What a check of the device says once it was chosen."""


def prepared(asked):
    """An accelerator that says what was asked, and whose autocast is what the check of the device said."""
    accelerator = Accelerator(mixed_precision=asked, cpu=True)
    accelerator.native_amp = HAS_BFLOAT16
    return accelerator


def main():
    """Train for five steps."""
    torch.manual_seed(0)
    accelerator = prepared("bf16")
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
    for _ in range(5):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}, mixed precision {accelerator.mixed_precision}")


if __name__ == "__main__":
    main()
