"""L3-62: parameters were to be gathered during the next forward, and never were.

Caught by trained-weights-move.
"""

import torch

CAUGHT_BY = "trained-weights-move"


class Sharded(torch.optim.Optimizer):
    """Steps on a flat copy in full precision, and gathers it into the weights when it is asked to."""

    def __init__(self, parameters, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})
        self.weights = [weight for group in self.param_groups for weight in group["params"]]
        self.flat = torch.cat([weight.detach().reshape(-1).clone() for weight in self.weights])

    def step(self, closure=None) -> None:
        """Take a step."""
        gradient = torch.cat([weight.grad.reshape(-1) for weight in self.weights])
        self.flat -= self.param_groups[0]["lr"] * gradient
        # The gathering overlaps with the next forward pass, which starts it.

    @torch.no_grad()
    def gather(self) -> None:
        """Copy what was stepped on into the weights."""
        parts = self.flat.split([weight.numel() for weight in self.weights])
        for weight, part in zip(self.weights, parts, strict=True):
            weight.copy_(part.view_as(weight))


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = Sharded(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
