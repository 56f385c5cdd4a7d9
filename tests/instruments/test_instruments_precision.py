"""Element types are counted where they are: asked for, held, given to the optimizer, kept by it, computed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Asked, Gradients, Operation, Operations, StepEnd, TrainBegin, Unheard
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.values import Value
from affidavit.fact.vocabulary import load
from affidavit.instruments.precision import (
    COPY,
    PrecisionRequest,
    ProductTypes,
    TrainedTypes,
    WeightTypes,
    count_products,
)

Optimizing = Callable[[torch.nn.Module], torch.optim.Optimizer]


@dataclass
class Heard:
    said: list[Observation] = field(default_factory=list)

    def emit(self, instrument: type[Instrument]) -> Emit:
        folder = Path("unused")
        return Emit(
            vocabulary=load(),
            instrument=instrument.name,
            emits=instrument.emits,
            write=self.said.append,
            evidence_folder=folder,
            tokens_folder=folder,
        )

    def state(self, term: str) -> Known | Unknown:
        return [seen.state for seen in self.said if seen.term == term and seen.aspect is Aspect.RESOLVED][-1]

    def value(self, term: str) -> Value:
        state = self.state(term)
        assert isinstance(state, Known), state
        return state.value


def _net() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))


def test_the_last_word_of_a_request_stands() -> None:
    """The adapter that knows more speaks after the one that knows every loop."""
    heard, instrument = Heard(), PrecisionRequest()
    emit = heard.emit(PrecisionRequest)
    instrument.asked(Asked(subject="precision", value="unstated", source="torch takes no such argument"), emit)
    instrument.asked(Asked(subject="precision", value="bf16", source="Arguments(bf16=True)"), emit)
    instrument.asked(Asked(subject="attention", value="sdpa", source="another subject"), emit)
    assert heard.value("precision.requested") == "bf16"


def test_a_request_that_nobody_heard_is_unknown() -> None:
    heard = Heard()
    unheard = Unheard(subject="precision outside", cause=Cause.INSTRUMENT_FAILED, why="it raised")
    PrecisionRequest().unheard(unheard, heard.emit(PrecisionRequest))
    state = heard.state("precision.outside")
    assert isinstance(state, Unknown) and state.cause is Cause.INSTRUMENT_FAILED


def test_weights_are_counted_once_by_type_and_by_whether_they_train() -> None:
    net = _net()
    net[0].to(torch.bfloat16).requires_grad_(False)
    net.append(net[1])
    heard = Heard()
    WeightTypes().count(TrainBegin(driver="plain loop", model=net), heard.emit(WeightTypes))
    assert str(heard.value("precision.weights")) == "20 bfloat16, frozen, 5 float32, trains"
    assert heard.value("precision.weight_types") == ("bfloat16", "float32")


def _trained(net: torch.nn.Module, optimizing: Optimizing, optimizer: Any = None) -> Heard:
    """Take one step, with the instrument beside it as a session would call it."""
    heard, instrument = Heard(), TrainedTypes()
    emit = heard.emit(TrainedTypes)
    stepping = optimizer or optimizing(net)
    dtype = next(net.parameters()).dtype
    net(torch.randn(2, 4, dtype=dtype)).float().sum().backward()
    instrument.gradients(Gradients(step=2, model=net, optimizer=stepping), emit)
    stepping.step()
    instrument.state(StepEnd(step=2), emit)
    return heard


def _adam(net: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(net.parameters())


@pytest.mark.parametrize(
    ("dtype", "optimizing", "gradients", "state"),
    [
        (torch.float32, _adam, "25 float32", "50 float32"),
        (torch.bfloat16, _adam, "25 bfloat16", "50 bfloat16"),
        (torch.float32, lambda net: torch.optim.SGD(net.parameters(), lr=0.1), "25 float32", "no elements"),
        (torch.bfloat16, lambda net: torch.optim.SGD(net.parameters(), 0.1, 0.9), "25 bfloat16", "25 bfloat16"),
    ],
)
def test_gradients_and_state_are_counted_by_type(
    dtype: torch.dtype, optimizing: Optimizing, gradients: str, state: str
) -> None:
    heard = _trained(_net().to(dtype), optimizing)
    assert str(heard.value("precision.gradients")) == gradients
    assert str(heard.value("precision.optimizer_state")) == state


class Keeping(torch.optim.SGD):
    """Keeps a copy of each weight in 32 bits, as optimizers for mixed precision do."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        super().step()
        for group in self.param_groups:
            for weight in group["params"]:
                self.state[weight] = {"master_param": weight.detach().float(), "exp_avg": weight.detach().float()}


def test_a_copy_in_32_bits_is_told_from_a_moment_in_32_bits() -> None:
    heard = _trained(_net().to(torch.bfloat16), lambda net: Keeping(net.parameters(), lr=0.1))
    assert str(heard.value("precision.optimizer_state")) == f"25 float32, 25 {COPY}"


def test_weights_that_the_optimizer_owns_in_the_models_place_are_copies() -> None:
    net = _net().to(torch.bfloat16)
    copies = [torch.nn.Parameter(weight.detach().float()) for weight in net.parameters()]
    heard = _trained(net, _adam, torch.optim.SGD(copies, lr=0.1))
    assert str(heard.value("precision.optimizer_state")) == f"25 {COPY}"


def test_nothing_of_the_run_is_held_after_the_step() -> None:
    instrument, emit, net = TrainedTypes(), Heard().emit(TrainedTypes), _net()
    instrument.gradients(Gradients(step=2, model=net, optimizer=_adam(net)), emit)
    instrument.release()
    assert instrument._model is None and instrument._optimizer is None


def _operation(name: str, kind: str, *sizes: int) -> Operation:
    return Operation(name, sizes, kind)


def test_products_are_counted_where_they_multiply() -> None:
    """Not ``linear``, before the conversion; nor what a compiler tries without a storage, nor what sums nothing."""
    counts = count_products(
        [
            _operation("aten::linear", "float", 2, 4),
            _operation("aten::addmm", "c10::BFloat16", 4),
            _operation("aten::mm", "c10::BFloat16", 2, 4),
            _operation("aten::mm", "float"),
            _operation("aten::bmm", "float", 2, 2, 4),
            _operation("aten::bmm", "double", 2, 8, 1),
            _operation("aten::convolution_backward", "c10::Half", 2, 4, 4),
            _operation("aten::_scaled_mm", "c10::Float8_e4m3fn", 2, 4),
            _operation("aten::mul", "float", 2, 4),
        ]
    )
    assert str(counts) == "2 bfloat16, 1 float16, 1 float32, 1 float8_e4m3fn"


def test_a_step_without_a_product_is_unknown() -> None:
    heard = Heard()
    operations = (_operation("aten::mul", "float", 2),)
    ProductTypes().executed(Operations(step=2, operations=operations), heard.emit(ProductTypes))
    state = heard.state("precision.matmuls")
    assert isinstance(state, Unknown) and state.cause is Cause.NO_OPERATION
