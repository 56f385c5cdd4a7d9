"""L3-45: a forward pass before the optimizer was built left it with tensors that are not the model's.

Caught by optimizer-owns-what-trains.
"""

import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

CAUGHT_BY = "optimizer-owns-what-trains"
RANKS = 2
STEPS = 6


def main() -> None:
    """Train on every rank, and print how the loss went."""
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    # To see the shapes once.
    model(torch.randn(1, 8))
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
