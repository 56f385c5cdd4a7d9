"""What every script here prints of a training: digests of losses, weights and random states, to be compared."""

import hashlib
import random

import numpy
import torch


def digest(model: torch.nn.Module) -> str:
    """Return a digest of every parameter and buffer, bit by bit."""
    state = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes())
    return state.hexdigest()


def random_states() -> str:
    """Return a digest of the random states of Python, NumPy and torch."""
    state = hashlib.sha256(repr(random.getstate()).encode())
    state.update(repr(numpy.random.get_state()[1].tolist()).encode())
    state.update(torch.get_rng_state().numpy().tobytes())
    return state.hexdigest()


def seed(number: int = 7) -> None:
    random.seed(number)
    numpy.random.seed(number)
    torch.manual_seed(number)


def told(model: torch.nn.Module, losses: list) -> dict:
    """Return what must be the same in both runs."""
    return {
        "losses": [float(loss).hex() for loss in losses],
        "weights": digest(model),
        "random": random_states(),
        "modes": [torch.is_grad_enabled(), model.training, sum(p.grad is not None for p in model.parameters())],
    }
