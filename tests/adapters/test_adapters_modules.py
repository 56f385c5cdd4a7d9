"""Which module trains: the owner of the optimizer's tensors, or, where there is none, the one with the gradients."""

from __future__ import annotations

import gc

import pytest
import torch

from affidavit.adapters.torch.modules import find_model


@pytest.fixture(autouse=True)
def _alone() -> None:
    """Models of other tests that a cycle still holds would be candidates."""
    gc.collect()


def _model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))


def _backward(model: torch.nn.Module) -> None:
    model(torch.ones(2, 4)).sum().backward()


def test_the_owner_of_the_tensors_trains() -> None:
    model, other = _model(), _model()
    _backward(other)
    assert find_model(torch.optim.SGD(model[1].parameters(), lr=0.1)) is model


def test_an_optimizer_that_steps_for_nothing_is_the_one_of_the_model_with_gradients() -> None:
    old, model = _model(), _model()
    optimizer = torch.optim.SGD([tensor.detach().clone().requires_grad_() for tensor in old.parameters()], lr=0.1)
    del old
    _backward(model)
    assert find_model(optimizer) is model


def test_a_tensor_that_is_optimized_by_itself_trains_no_module() -> None:
    model = _model()
    picture = torch.ones(2, 4, requires_grad=True)
    model(picture).sum().backward()
    assert find_model(torch.optim.SGD([picture], lr=0.1)) is None


def test_nothing_trains_before_there_is_a_gradient() -> None:
    model = _model()
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
    assert find_model(optimizer) is None and model is not None
