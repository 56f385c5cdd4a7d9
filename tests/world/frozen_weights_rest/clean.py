"""Freezes its first layer before it has a gradient."""

import torch


def values(model: torch.nn.Module, rows: torch.Tensor) -> torch.Tensor:
    """How far the model is from the sum of each row."""
    return (model(rows) - rows.sum(1, keepdim=True)).square().mean()


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    for parameter in model[0].parameters():
        parameter.requires_grad = False
    # One pass before anything else, to see that the loss is a number.
    values(model, torch.randn(16, 8)).backward()

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
    losses = []
    for _ in range(12):
        optimizer.zero_grad(set_to_none=False)
        loss = values(model, torch.randn(16, 8))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
