"""Loops unlike others: tensors without a module, an optimizer a step, two optimizers, an evaluation before a step."""

import gc
import json
import sys
import time

import torch
from witnessed import seed, told


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows, labels=None):
        rows = rows[:, None, None]
        attended = torch.nn.functional.scaled_dot_product_attention(rows, rows, rows)
        return self.layer(attended).sum() if torch.is_grad_enabled() else rows.softmax(-1)


def raw_tensors(steps: int = 200) -> dict:
    """As in prompt tuning or adversarial examples: the optimizer's parameters are nobody's."""
    seed()
    ballast = [[number] for number in range(400_000)]
    tensor = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([tensor], lr=0.1)
    begun = time.process_time()
    for _ in range(steps):
        (tensor**2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    del ballast
    return {"tensor": tensor.tolist(), "told": time.process_time() - begun}


def an_optimizer_a_step(steps: int = 120) -> dict:
    """As in meta-learning: each task has an optimizer of its own."""
    seed()
    net = Net()
    begun, losses = time.process_time(), []
    for _ in range(steps):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        loss = net(torch.rand(2, 4))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        del optimizer
    return told(net, losses) | {"told": time.process_time() - begun}


def two_optimizers() -> dict:
    """As in adversarial networks."""
    seed()
    nets = [Net(), Net()]
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    losses = []
    for _ in range(6):
        for net, optimizer in zip(nets, optimizers):
            loss = net(torch.rand(2, 4))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return told(nets[0], losses)


def evaluated(steps: int = 4) -> dict:
    """Between two steps, the same model is evaluated on another kernel, by the hundred."""
    seed()
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        loss = net(torch.rand(2, 4))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            for _ in range(100):
                net(torch.rand(2, 4))
    return told(net, losses)


def interrupted() -> dict:
    """A step that fails and is tried again, as with a batch that was too large."""
    seed()
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for number in range(6):
        try:
            loss = net(torch.rand(2, 4))
            if number in (1, 2):
                raise MemoryError
            loss.backward()
        except MemoryError:
            optimizer.zero_grad()
            continue
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return told(net, losses)


LOOPS = {
    "raw tensors": raw_tensors,
    "two optimizers": two_optimizers,
    "evaluated": evaluated,
    "interrupted": interrupted,
    "an optimizer a step": an_optimizer_a_step,
}


def main() -> None:
    import torch.nn.attention  # noqa: F401  one of the loops names it

    said = {}
    for name, loop in LOOPS.items():
        said[name] = loop()
        gc.collect()
    print(json.dumps(said))


if __name__ == "__main__":
    sys.exit(main())
