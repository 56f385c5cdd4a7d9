"""The rate is set by hand at each step, with a warm-up and a cosine, as nanoGPT does it."""

import math

import torch

STEPS, WARMUP, PEAK, FLOOR = 20, 4, 6e-3, 6e-4


def rate(step: int) -> float:
    """The rate of a step, counted from 0."""
    if step < WARMUP:
        return PEAK * (step + 1) / (WARMUP + 1)
    share = (step - WARMUP) / (STEPS - WARMUP)
    return FLOOR + 0.5 * (1 + math.cos(math.pi * share)) * (PEAK - FLOOR)


def main() -> None:
    """Train, with matrices and vectors in groups of their own."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
    matrices = [tensor for tensor in model.parameters() if tensor.dim() >= 2]
    vectors = [tensor for tensor in model.parameters() if tensor.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.95))
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        rows = torch.randn(4, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
