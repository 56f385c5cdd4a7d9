"""An optimizer says what it steps with and whose tensors it holds, inside of wrappers and beside others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Adafactor, TrainingArguments

from affidavit.adapters.transformers.names import optimizer_class
from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Asked, Gradients, StepBegin, TrainBegin
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.vocabulary import load
from affidavit.instruments.optimizer import NAMES, OptimizerOwnership, OptimizerSettings


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

    def value(self, term: str) -> Any:
        state = [seen.state for seen in self.said if seen.term == term and seen.aspect is Aspect.RESOLVED][-1]
        assert isinstance(state, Known), state
        return state.value


class Net(torch.nn.Module):
    """Two matrices, their biases, and a norm under a name of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.last = torch.nn.Linear(4, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(self.first(rows) * self.scale)
        return found


def _settings(optimizer: object, model: torch.nn.Module) -> Heard:
    heard = Heard()
    moment = TrainBegin(driver="test", model=model, optimizer=optimizer)
    OptimizerSettings().read(moment, heard.emit(OptimizerSettings))
    return heard


def _owned(optimizer: object, model: torch.nn.Module) -> Heard:
    heard = Heard()
    moment = Gradients(step=2, model=model, optimizer=optimizer)
    OptimizerOwnership().look(moment, heard.emit(OptimizerOwnership))
    return heard


def test_the_numbers_of_an_optimizer_are_read_back() -> None:
    model = Net()
    heard = _settings(torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1, betas=(0.9, 0.95)), model)
    assert heard.value("optimizer.kind") == "AdamW"
    assert heard.value("optimizer.learning_rate") == 3e-4
    assert heard.value("optimizer.weight_decay") == 0.1
    assert "betas=(0.9, 0.95)" in heard.value("optimizer.settings")
    assert not any(word in " ".join(heard.value("optimizer.settings")) for word in ("lr=", " weight_decay", "fused"))
    (row,) = heard.value("optimizer.groups").records()
    assert row == {
        "groups": 1,
        "tensors": 5,
        "elements": 29,
        "vectors": 3,
        "learning_rate": 3e-4,
        "weight_decay": 0.1,
        "path": "",
    }


def test_the_rate_is_what_the_schedule_scales() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 10)
    assert optimizer.param_groups[0]["lr"] == 0.0
    assert _settings(optimizer, model).value("optimizer.learning_rate") == 0.5


def test_groups_of_one_rate_and_decay_are_one_row_and_the_largest_speaks() -> None:
    model = Net()
    groups = [{"params": [tensor], "lr": 0.1 if tensor.ndim < 2 else 0.2} for tensor in model.parameters()]
    heard = _settings(torch.optim.SGD(groups, lr=0.3), model)
    assert heard.value("optimizer.groups").column("groups") == (2, 3)
    assert heard.value("optimizer.learning_rate") == 0.2


def test_an_optimizer_of_a_package_is_named_with_it() -> None:
    model = Net()
    heard = _settings(Adafactor(model.parameters(), lr=1e-3, relative_step=False), model)
    assert heard.value("optimizer.kind") == "transformers.Adafactor"


def test_a_wrapper_is_looked_through() -> None:
    from accelerate import Accelerator

    model = Net()
    wrapped = Accelerator(cpu=True).prepare(torch.optim.SGD(model.parameters(), lr=0.1))
    assert type(wrapped).__name__ != "SGD"
    assert _settings(wrapped, model).value("optimizer.kind") == "SGD"


@pytest.mark.parametrize("name", ["adamw_torch", "adamw_torch_fused", "adafactor", "sgd", "adagrad", "rmsprop"])
def test_each_name_of_transformers_stands_for_the_class_it_builds(name: str, tmp_path: Path) -> None:
    from transformers import Trainer

    model = Net()
    arguments = TrainingArguments(output_dir=str(tmp_path), optim=name, use_cpu=True, report_to="none")
    trainer = Trainer(model=model, args=arguments)
    trainer.create_optimizer()
    heard = _settings(trainer.optimizer, model)
    assert heard.value("optimizer.kind") == optimizer_class(arguments.optim)


@pytest.mark.parametrize("name", ["galore_adamw", "lomo", "schedule_free_adamw"])
def test_a_name_that_we_do_not_know_is_no_request(name: str) -> None:
    assert optimizer_class(name) is None


@pytest.mark.parametrize(
    ("spared", "decayed"),
    [
        (lambda name, tensor: tensor.ndim < 2, ()),
        (lambda name, tensor: "bias" in name, ("scale",)),
        (lambda name, tensor: name == "first.bias", ("last.bias", "scale")),
        (lambda name, tensor: name == "first.weight", ()),
        (lambda name, tensor: False, ()),
    ],
)
def test_vectors_that_decay_beside_spared_ones_are_named(spared: Any, decayed: tuple[str, ...]) -> None:
    model = Net()
    named = dict(model.named_parameters())
    chosen = {name for name, tensor in named.items() if spared(name, tensor)}
    groups = [
        {"params": [named[name] for name in chosen], "weight_decay": 0.0},
        {"params": [tensor for name, tensor in named.items() if name not in chosen], "weight_decay": 0.1},
    ]
    optimizer = torch.optim.AdamW([group for group in groups if group["params"]], lr=0.1)
    assert set(_settings(optimizer, model).value("optimizer.decayed_vectors")) == set(decayed)


def test_many_names_are_folded_and_the_rest_counted() -> None:
    model = torch.nn.ModuleDict({f"part{place}x": torch.nn.LayerNorm(2) for place in range(NAMES + 10)})
    names = dict(model.named_parameters())
    groups = [
        {"params": [names.pop("part0x.bias")], "weight_decay": 0.0},
        {"params": list(names.values()), "weight_decay": 0.1},
    ]
    decayed = _settings(torch.optim.AdamW(groups, lr=0.1), model).value("optimizer.decayed_vectors")
    assert len(decayed) == NAMES + 1 and decayed[-1].startswith("and ")


def test_what_was_asked_is_told_by_name_and_once() -> None:
    heard, instrument = Heard(), OptimizerSettings()
    emit = heard.emit(OptimizerSettings)
    for subject in ("optimizer.weight_decay", "optimizer.kind", "schedule.kind"):
        instrument.asked_by_name(Asked(subject=subject, value="AdamW", source="test"), emit)
    instrument.tell(StepBegin(step=1), emit)
    assert heard.value("optimizer.asked") == ("kind", "weight_decay")


# --- whose tensors they are -------------------------------------------------------------------------------------


def _step(model: torch.nn.Module) -> None:
    model(torch.ones(2, 4)).sum().backward()


def test_an_optimizer_that_holds_the_model_holds_all_of_it() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    _step(model)
    heard = _owned(optimizer, model)
    assert str(heard.value("optimizer.owned")) == "5 owned, with gradient"
    assert heard.value("optimizer.unowned") == ()


def test_an_optimizer_of_before_the_change_holds_what_nobody_trains() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.last = torch.nn.Linear(4, 1)
    _step(model)
    heard = _owned(optimizer, model)
    counts = heard.value("optimizer.owned")
    assert (counts["foreign, idle"], counts["unowned, with gradient"], counts["owned, with gradient"]) == (2, 2, 3)
    assert heard.value("optimizer.unowned") == ("last.bias", "last.weight")


def test_a_copy_that_an_engine_trains_is_told_apart_from_one_that_nobody_does() -> None:
    model = Net()
    masters = [tensor.detach().clone().requires_grad_() for tensor in model.parameters()]
    optimizer = torch.optim.SGD(masters, lr=0.1)
    _step(model)
    for master, tensor in zip(masters, model.parameters(), strict=True):
        master.grad = tensor.grad
    counts = _owned(optimizer, model).value("optimizer.owned")
    assert counts["foreign, with gradient"] == counts["unowned, with gradient"] == 5 and not counts["foreign, idle"]


def test_two_optimizers_share_a_model() -> None:
    model = Net()
    body = torch.optim.SGD(model.first.parameters(), lr=0.1)
    rest = torch.optim.AdamW([model.scale, *model.last.parameters()], lr=0.1)
    _step(model)
    heard = _owned(body, model)
    assert str(heard.value("optimizer.owned")) == "3 owned by another optimizer, 2 owned, with gradient"
    assert heard.value("optimizer.unowned") == ()
    assert rest.param_groups


def test_what_is_frozen_and_what_gets_no_gradient_is_nobodys_fault() -> None:
    model = Net()
    model.first.requires_grad_(False)
    model.register_parameter("unused", torch.nn.Parameter(torch.ones(3)))
    optimizer = torch.optim.SGD([*model.first.parameters(), model.scale, *model.last.parameters()], lr=0.1)
    _step(model)
    heard = _owned(optimizer, model)
    counts = dict(heard.value("optimizer.owned").counts)
    assert counts == {"frozen, owned": 2, "owned, with gradient": 3, "unowned, no gradient": 1}
    assert heard.value("optimizer.unowned") == ()


def test_a_tensor_in_the_middle_of_a_graph_is_not_asked_for_its_gradient() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.__dict__["_parameters"]["scale"] = torch.ones(4, requires_grad=True) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _owned(optimizer, model).value("optimizer.owned")["foreign, idle"] == 1
