"""Loops that cast, autocast, freeze norms, and leave training mode for a validation; prints what came out."""

import json

import torch
from witnessed import seed, told

STEPS = 12


def net() -> torch.nn.Sequential:
    layers = (torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Dropout(0.1))
    return torch.nn.Sequential(torch.nn.Sequential(*layers), torch.nn.Linear(16, 1))


def train(model, optimizer, autocast: torch.dtype | None = None, rests: bool = False) -> dict:
    """Train, validate each fourth step, and go back to training; ``rests`` keeps the first part in evaluation."""
    losses = []
    kind = next(model.parameters()).dtype
    for step in range(STEPS):
        model.train()
        model[0].train(not rests)
        rows = torch.rand(16, 8, dtype=kind)
        with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
            loss = (model(rows) - rows.sum(1, keepdim=True)).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if step % 4 == 3:
            model.eval()
            with torch.no_grad():
                losses.append(model(rows).float().mean().item())
    flags = [module.training for module in model.modules()]
    state = [str(part.dtype) for kept in optimizer.state.values() for part in kept.values()]
    return told(model, losses) | {"flags": flags, "state": state}


def cast() -> dict:
    """By every name under which a module is cast, and back; each returns the module itself."""
    seed()
    model = net()
    same = [call() is model for call in (model.half, model.double, model.float)]
    same.append(model.to(torch.bfloat16) is model and model.to("cpu") is model)
    return train(model, torch.optim.AdamW(model.parameters(), lr=0.1)) | {"same": same}


def refused() -> dict:
    """A cast that torch refuses is refused in the same words."""
    try:
        net().to(torch.int64)
    except TypeError as error:
        return {"refused": str(error)}
    return {}


def autocast(dtype: torch.dtype) -> dict:
    seed()
    model = net()
    return train(model, torch.optim.AdamW(model.parameters(), lr=0.1), autocast=dtype)


def frozen() -> dict:
    seed()
    model = net()
    model[0].requires_grad_(False)
    return train(model, torch.optim.SGD(model[1].parameters(), lr=0.1), rests=True)


if __name__ == "__main__":
    ran = {
        "cast": cast(),
        "refused": refused(),
        "bfloat16": autocast(torch.bfloat16),
        "float16": autocast(torch.float16),
        "frozen": frozen(),
    }
    print(json.dumps(ran))
