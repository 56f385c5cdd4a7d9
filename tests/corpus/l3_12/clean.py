"""L3-12, mended: the length is counted in moves of all ranks."""

import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

STEPS = 16


def main() -> None:
    """Train on every rank, and print how the loss went."""
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, STEPS * accelerator.num_processes)
    model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)
    losses = []
    for _ in range(STEPS):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    accelerator.print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")
    accelerator.end_training()


if __name__ == "__main__":
    main()
