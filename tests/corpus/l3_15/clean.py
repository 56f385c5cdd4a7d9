"""L3-15, mended: warm-up and length are counted in moves of all ranks."""

import torch

STEPS, RANKS = 24, 4


class Prepared:
    """A scheduler as a library hands it back to each of some ranks: its step is a step of all of them."""

    def __init__(self, scheduler: torch.optim.lr_scheduler.LRScheduler, ranks: int) -> None:
        self.scheduler, self.ranks = scheduler, ranks

    def step(self) -> None:
        """Move once for each rank."""
        for _ in range(self.ranks):
            self.scheduler.step()


def get_linear_schedule_with_warmup(
    optimizer: torch.optim.Optimizer, num_warmup_steps: int, num_training_steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """A schedule as the example scripts build it."""

    def lr_lambda(step: int) -> float:
        if step < num_warmup_steps:
            return step / max(1, num_warmup_steps)
        return max(0.0, (num_training_steps - step) / max(1, num_training_steps - num_warmup_steps))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda)


def main() -> None:
    """Train, and print how the loss went."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = Prepared(get_linear_schedule_with_warmup(optimizer, 2 * RANKS, STEPS * RANKS), RANKS)
    losses = []
    for _ in range(STEPS):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
