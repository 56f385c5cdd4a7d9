"""Layers say what their mode does, and a change is told where it contradicts how the training began."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Batch, Gradients, Look, TrainBegin
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.values import Value
from affidavit.fact.vocabulary import load
from affidavit.instruments.modes import Modes


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

    def value(self, term: str) -> Value:
        state = [seen.state for seen in self.said if seen.term == term and seen.aspect is Aspect.RESOLVED][-1]
        assert isinstance(state, Known), state
        return state.value


class Net(torch.nn.Module):
    """A backbone with a norm and dropout, and a head with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.1))
        self.head = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Dropout(0.1), torch.nn.Dropout(0.0))


@dataclass
class Watched:
    """A training as far as this instrument sees it."""

    net: torch.nn.Module
    heard: Heard = field(default_factory=Heard)
    instrument: Modes = field(default_factory=Modes)

    def __post_init__(self) -> None:
        self.emit = self.heard.emit(Modes)
        self.instrument.begin(TrainBegin(driver="plain loop", model=self.net), self.emit)

    def sampled(self) -> Watched:
        self.instrument.enters(Batch(step=2, inputs={}), self.emit)
        return self

    def looked(self, step: int = 4, *, last: bool = False) -> str:
        self.instrument.look(Look(step=step, model=self.net, optimizer=None, last=last), self.emit)
        return str(self.heard.value("modes.changed"))

    def layers(self) -> str:
        return str(self.heard.value("modes.layers"))


NOTHING = "0 frozen norm woken, 0 left in evaluation"


def test_a_model_in_training() -> None:
    watched = Watched(Net()).sampled()
    assert watched.layers() == "2 dropout, active, 1 norm, statistics move"
    assert str(watched.heard.value("modes.modules")) == "0 evaluation, 3 training"


def test_a_model_in_evaluation() -> None:
    watched = Watched(Net().eval()).sampled()
    assert watched.layers() == "2 dropout, silent, 1 norm, statistics rest"
    assert str(watched.heard.value("modes.modules")) == "3 evaluation, 0 training"


@pytest.mark.parametrize(
    ("rests", "expected"),
    [
        (True, "1 dropout of a frozen part, silent, 1 dropout, active, 1 frozen norm, statistics rest"),
        (False, "1 dropout of a frozen part, active, 1 dropout, active, 1 frozen norm, statistics move"),
    ],
)
def test_a_frozen_part_is_counted_apart(rests: bool, expected: str) -> None:
    net = Net()
    net.backbone.requires_grad_(False).train(not rests)
    watched = Watched(net).sampled()
    assert watched.layers() == expected
    assert str(watched.heard.value("modes.modules")) == "0 evaluation, 1 training"


def test_layers_that_have_a_mode_of_their_own_kind() -> None:
    net = torch.nn.Sequential(
        torch.nn.LSTM(4, 4, num_layers=2, dropout=0.1),
        torch.nn.LSTM(4, 4, num_layers=1),
        torch.nn.MultiheadAttention(4, 1, dropout=0.1),
        torch.nn.BatchNorm1d(4, track_running_stats=False),
        torch.nn.LayerNorm(4),
    )
    assert Watched(net).sampled().layers() == "2 dropout, active"


def test_where_no_batch_is_seen_the_gradients_say_it() -> None:
    net = Net()
    watched = Watched(net)
    watched.instrument.gradients(Gradients(step=2, model=net, optimizer=None), watched.emit)
    assert watched.layers() == "2 dropout, active, 1 norm, statistics move"


def test_what_a_step_puts_to_rest_is_not_read_again() -> None:
    """A batch enters in training mode; what the script does before the optimizer's step is another matter."""
    watched = Watched(Net()).sampled()
    watched.net.eval()
    watched.instrument.gradients(Gradients(step=2, model=watched.net, optimizer=None), watched.emit)
    assert watched.layers() == "2 dropout, active, 1 norm, statistics move"


def test_a_model_that_a_validation_leaves_in_evaluation() -> None:
    watched = Watched(Net()).sampled()
    assert watched.looked() == NOTHING
    watched.net.eval()
    assert watched.looked() == "0 frozen norm woken, 3 left in evaluation"


def test_norms_that_a_script_puts_to_rest_by_themselves_are_its_choice() -> None:
    net = Net()
    watched = Watched(net).sampled()
    net.backbone[1].eval()
    assert watched.looked() == NOTHING


def test_a_frozen_norm_that_wakes() -> None:
    net = Net()
    net.backbone.requires_grad_(False).eval()
    watched = Watched(net).sampled()
    net.train()
    assert watched.looked() == "1 frozen norm woken, 0 left in evaluation"
    net.backbone.eval()
    assert watched.looked(8) == "1 frozen norm woken, 0 left in evaluation"


def test_a_part_that_is_thawed_to_train_is_not_woken() -> None:
    net = Net()
    net.backbone.requires_grad_(False).eval()
    watched = Watched(net).sampled()
    net.train().requires_grad_(True)
    assert watched.looked() == NOTHING


def test_the_end_of_the_run_is_not_a_training_step() -> None:
    watched = Watched(Net()).sampled()
    watched.net.eval()
    assert watched.looked(last=True) == NOTHING


def test_the_pulse_speaks_once_for_each_change_and_keeps_nothing_alive() -> None:
    watched = Watched(Net()).sampled()
    (pulse,) = watched.emit.pulses
    assert not pulse(3)
    watched.net.eval()
    assert pulse(4) and not pulse(5)
    watched.net.train()
    assert pulse(6)
    watched.net = torch.nn.Linear(1, 1)
    assert not pulse(7)


def test_a_model_without_such_layers_costs_no_pulse() -> None:
    watched = Watched(torch.nn.Linear(4, 1)).sampled()
    assert watched.layers() == "no layers" and watched.emit.pulses == []
    assert watched.looked() == NOTHING
