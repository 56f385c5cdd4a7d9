"""L4-11: results that nobody can tie to the patches that were applied. Caught by packages-as-installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("site")))

import torch
from patched_losses import SCALE

CAUGHT_BY = "packages-as-installed"


def main():
    """Train for four steps."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(4):
        rows = torch.randn(16, 8)
        loss = SCALE * (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
