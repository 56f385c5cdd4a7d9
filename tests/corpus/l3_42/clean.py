"""L3-42, mended: the model is sharded first."""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

STEPS = 6


def main() -> None:
    """Train on every rank, and print how the loss went."""
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model = FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(STEPS):
        rows = torch.randn(16, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses.append(loss.item())
    if os.environ.get("RANK", "0") == "0":
        print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
