"""L3-11, clean: the engine's own config leaves the accumulation open."""

import logging

import torch
from accelerate import Accelerator


class Engine:
    """Stands in for an engine that steps by a count of its own."""

    def __init__(self, optimizer: torch.optim.Optimizer, accumulation: int) -> None:
        self.optimizer = optimizer
        self.accumulation = accumulation
        self.micro_batches = 0

    def step(self) -> None:
        """Step when enough micro-batches were seen."""
        self.micro_batches += 1
        if self.micro_batches % self.accumulation == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()


def prepare(optimizer: torch.optim.Optimizer, wanted: int, found: int | None) -> Engine:
    """Make an engine; where its own config holds another number, that one wins, with a line of information."""
    if found is not None and found != wanted:
        logging.getLogger(__name__).info("Updating gradient accumulation steps from %s to %s", wanted, found)
        wanted = found
    return Engine(optimizer, wanted)


def main() -> None:
    """Train on four times sixteen rows."""
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    model = accelerator.prepare(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)))
    engine = prepare(torch.optim.SGD(model.parameters(), lr=0.01), accelerator.gradient_accumulation_steps, found=None)
    rows = torch.randn(64, 8)
    for batch in rows.split(4):
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss / 4)
        engine.step()


if __name__ == "__main__":
    main()
