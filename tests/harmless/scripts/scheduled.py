"""Loops whose learning rate moves in every way it can, told by their weights, their rates and who was called."""

import hashlib
import json

import torch

STEPS = 12


class Counted:
    """A function of the step that remembers how often it was asked; whoever else asks it changes the run."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, step: int) -> float:
        """The share of the rate, smaller with each question."""
        self.asked += 1
        return 0.99**self.asked


def train(optimizer_class, settings: dict, schedule) -> dict:
    """Train a small model, and tell all of it."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
    optimizer = optimizer_class(model.parameters(), **settings)
    move, state = schedule(optimizer)
    rates = []
    for step in range(STEPS):
        rows = torch.randn(4, 8)
        loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
        loss.backward()
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        optimizer.zero_grad()
        move(step, loss)
    weights = b"".join(tensor.detach().numpy().tobytes() for tensor in model.parameters())
    return {"weights": hashlib.sha256(weights).hexdigest(), "rates": rates, "state": repr(state())}


def counted(optimizer):
    """A schedule of a function that counts."""
    function = Counted()
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, function)
    return lambda step, loss: scheduler.step(), lambda: (function.asked, scheduler.last_epoch)


def one_cycle(optimizer):
    """A schedule that moves the momentum too."""
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=STEPS + 1)
    return lambda step, loss: scheduler.step(), lambda: sorted(scheduler.state_dict().items(), key=str)


def plateau(optimizer):
    """A schedule that looks at the loss."""
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    return lambda step, loss: scheduler.step(loss.item()), lambda: sorted(scheduler.state_dict().items(), key=str)


def by_hand(optimizer):
    """No scheduler: the rate is a number in a group."""

    def move(step: int, loss: torch.Tensor) -> None:
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / (step + 1)

    return move, lambda: ""


def in_tensor(optimizer):
    """The rate is a tensor, changed in place."""
    return lambda step, loss: optimizer.param_groups[0]["lr"].mul_(0.9), lambda: ""


def main() -> None:
    """Train one after the other."""
    told = {
        "counted": train(torch.optim.AdamW, {"lr": 0.01}, counted),
        "one cycle": train(torch.optim.SGD, {"lr": 0.01, "momentum": 0.9}, one_cycle),
        "plateau": train(torch.optim.SGD, {"lr": 0.01}, plateau),
        "by hand": train(torch.optim.AdamW, {"lr": 0.01}, by_hand),
        "in a tensor": train(torch.optim.AdamW, {"lr": torch.tensor(0.01)}, in_tensor),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
