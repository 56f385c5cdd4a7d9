"""Has a part that no loss reaches, as pretrained models do, and a group of its own at rate 0."""

import torch


class Pooled(torch.nn.Module):
    """A body, a head, and a pooler for whoever wants one."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Linear(8, 16)
        self.pooler = torch.nn.Linear(16, 16)
        self.head = torch.nn.Linear(16, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows' values, one a row."""
        return self.head(torch.tanh(self.body(rows)))


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = Pooled()
    groups = [{"params": [*model.body.parameters(), *model.pooler.parameters(), model.head.weight]}]
    groups.append({"params": [model.head.bias], "lr": 0.0})
    optimizer = torch.optim.AdamW(groups, lr=1e-2)
    losses = []
    for _ in range(12):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
