"""L3-09, clean: the engine accumulates as many micro-batches as the Accelerator."""

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


def main() -> None:
    """Train on four times sixteen rows."""
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    model = accelerator.prepare(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)))
    engine = Engine(torch.optim.SGD(model.parameters(), lr=0.01), accelerator.gradient_accumulation_steps)
    rows = torch.randn(64, 8)
    for batch in rows.split(4):
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss / 4)
        engine.step()


if __name__ == "__main__":
    main()
