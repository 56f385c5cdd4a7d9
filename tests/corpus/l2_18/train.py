"""L2-18: an argument of type bool is true whatever is typed, and its help says otherwise. Caught by fields-read."""

import argparse

import torch

CAUGHT_BY = "fields-read"


def main():
    """Train for four steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--clip", type=bool, default=False, help="clip gradients (default: True)")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate)
    for _ in range(4):
        rows = torch.randn(16, 8)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0 if options.clip else 1e9)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
