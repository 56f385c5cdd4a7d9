"""Spares every tensor of one dimension."""

import torch


class Scaled(torch.nn.Module):
    """Two layers with a norm of its own between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.scale = torch.nn.Parameter(torch.ones(16))
        self.last = torch.nn.Linear(16, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows' values, one a row."""
        inner = self.first(rows)
        return self.last(torch.relu(inner * self.scale / inner.square().mean(-1, keepdim=True).add(1e-6).sqrt()))


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = Scaled()
    spared = [tensor for name, tensor in model.named_parameters() if tensor.dim() < 2]
    decayed = [tensor for tensor in model.parameters() if all(tensor is not other for other in spared)]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": spared, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2)
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
