"""L3-43: the step changed nothing, since the optimizer held the parameters of before the wrapping.

Caught by optimizer-owns-what-trains.
"""

import torch

CAUGHT_BY = "optimizer-owns-what-trains"


class Flat(torch.nn.Module):
    """A model whose parameters lie in one long tensor, as a sharding wrapper keeps them."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        tensors = [tensor.detach() for tensor in model.parameters()]
        self.shapes = [tensor.shape for tensor in tensors]
        self.flat = torch.nn.Parameter(torch.cat([tensor.reshape(-1) for tensor in tensors]))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Both layers, from views of the long tensor."""
        parts = self.flat.split([shape.numel() for shape in self.shapes])
        first, bias, last, end = (part.view(shape) for part, shape in zip(parts, self.shapes, strict=True))
        linear = torch.nn.functional.linear
        return linear(torch.relu(linear(rows, first, bias)), last, end)


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model = Flat(model)
    losses = []
    for _ in range(6):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
