"""Validates after three steps and leaves the model in evaluation mode for the other nine."""

import torch

STEPS = 12


def main() -> None:
    """Train for twelve steps."""
    torch.manual_seed(0)
    layers = (torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Dropout(0.1))
    model = torch.nn.Sequential(*layers, torch.nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(STEPS):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}")
        if step == 2:
            model.eval()
            with torch.no_grad():
                rows = torch.randn(16, 8)
                print(f"validation {(model(rows) - rows.sum(1, keepdim=True)).square().mean().item():.3f}")


if __name__ == "__main__":
    main()
