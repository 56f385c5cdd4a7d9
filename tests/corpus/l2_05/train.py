"""L2-05: the length is asked for on the command line, parsed, and never passed on. Caught by fields-read."""

import argparse

import torch

CAUGHT_BY = "fields-read"


def main():
    """Train for four steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--seq_length", type=int, default=8)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate)
    for _ in range(4):
        rows = torch.randn(16, 8)
        rows = rows[:, :8]
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
