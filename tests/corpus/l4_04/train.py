"""L4-04: the dirty tree holds the fix that the recorded HEAD lacks: it is staged. Caught by tree-is-committed."""

import torch
from recipe import RATE

CAUGHT_BY = "tree-is-committed"


def main():
    """Train for four steps."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for _ in range(4):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
