"""L3-42: the optimizer was built before the model was sharded: it holds old parameters, nothing trains.

Caught by optimizer-owns-what-trains.
"""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

CAUGHT_BY = "optimizer-owns-what-trains"
RANKS = 2
STEPS = 6


def main() -> None:
    """Train on every rank, and print how the loss went."""
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model = FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=False)
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
