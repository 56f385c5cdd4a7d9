"""Weights that move are told from weights that rest, and weights of a file from weights made anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Gradients, Look, Restored, StepBegin, StepEnd, TrainBegin
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.vocabulary import load
from affidavit.instruments import weights
from affidavit.instruments.weights import WeightsLoaded, WeightsMoved, checkpoint, checksum
from affidavit.instruments.weights.checksum import checksums


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

    def known(self, term: str) -> Known:
        state = self.state(term)
        assert isinstance(state, Known), state
        return state

    def value(self, term: str) -> Any:
        return self.known(term).value


class Net(torch.nn.Module):
    """A body, a head, and a part that nothing calls."""

    def __init__(self, type_: torch.dtype = torch.float32) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.body = torch.nn.Linear(4, 4, dtype=type_)
        self.norm = torch.nn.Parameter(torch.ones(4, dtype=type_))
        self.unused = torch.nn.Linear(4, 4, dtype=type_)
        self.head = torch.nn.Linear(4, 1, dtype=type_)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.body(rows) * self.norm)
        return found


class Training:
    """Trains as an adapter would tell of it."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model, self.optimizer, self.heard = model, optimizer, Heard()
        self.instrument = WeightsMoved()
        self.emit = self.heard.emit(WeightsMoved)
        self.type = next(model.parameters()).dtype
        self.instrument.begin(TrainBegin(driver="test", model=model, optimizer=optimizer), self.emit)

    def run(self, steps: int, *, after: Callable[[int], None] = lambda step: None, last: bool = True) -> Training:
        look = 4
        for step in range(1, steps + 1):
            if step <= 2:
                self.instrument.count_from(StepBegin(step=step), self.emit)
            self.model(torch.randn(8, 4, dtype=self.type)).square().mean().backward()
            if step <= 2:
                moment = Gradients(step=step, model=self.model, optimizer=self.optimizer)
                self.instrument.gradients(moment, self.emit)
            self.optimizer.step()
            self.optimizer.zero_grad()
            after(step)
            if step == 2:
                self.instrument.provide(StepEnd(step=2), self.emit)
            if step == look:
                look *= 2
                self.look(step)
        if last:
            self.look(steps, last=True)
        return self

    def look(self, step: int, *, last: bool = False, gone: bool = False) -> None:
        model, optimizer = (None, None) if gone else (self.model, self.optimizer)
        self.instrument.look(Look(step=step, model=model, optimizer=optimizer, last=last), self.emit)

    def value(self, property_: str) -> Any:
        return self.heard.value(f"weights.{property_}")


def test_what_trains_moves_and_what_no_gradient_reaches_is_told_apart() -> None:
    model = Net()
    training = Training(model, torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)).run(6)
    assert str(training.value("moved")) == "5 moved, 2 without gradient"
    assert training.value("exceptions").expand() == dict.fromkeys(("unused.weight", "unused.bias"), weights.NO_GRADIENT)
    assert training.value("steps_watched") == 6


def test_an_update_that_rounding_swallows_leaves_a_weight_still() -> None:
    kinds = []
    for type_ in (torch.float32, torch.bfloat16):
        model = Net(type_)
        training = Training(model, torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)).run(6)
        kinds.append(training.value("exceptions").expand().get("norm"))
    assert kinds == [None, weights.ROUNDED]


def test_one_row_of_an_embedding_is_enough() -> None:
    model = torch.nn.Sequential(torch.nn.Embedding(5000, 3), torch.nn.Linear(3, 1))
    before = checksums(model.named_parameters())
    with torch.no_grad():
        model[0].weight[4711, 2] += 1e-6  # type: ignore[index, operator]
    after = checksums(model.named_parameters())
    assert before["0.weight"] != after["0.weight"] and before["1.weight"] == after["1.weight"]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3),
        torch.randn(7, 5)[1:, 1:],
        torch.randn(4, 6).t(),
        torch.randn(9)[1:],
        torch.randn(17).bfloat16()[3:],
        torch.arange(11, dtype=torch.uint8)[2:],
        torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
        torch.randn(3, dtype=torch.complex128),
        torch.tensor(1.0),
        torch.randn(2 * checksum.ALONE_WORDS + 5),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)} {tensor.dtype}",
)
def test_every_element_of_every_kind_of_tensor_counts(tensor: torch.Tensor) -> None:
    before = checksums([("x", tensor)])["x"]
    for place in {0, tensor.numel() // 2, tensor.numel() - 1}:
        index = torch.unravel_index(torch.tensor(place), tensor.shape)
        old = tensor[index].clone()
        tensor[index] = 3
        changed = checksums([("x", tensor)])["x"]
        tensor[index] = old
        assert changed.value != before.value
    assert checksums([("x", tensor)])["x"] == before


def test_a_tensor_without_bytes_here_has_no_checksum() -> None:
    assert checksums([("none", torch.empty(0)), ("meta", torch.empty(2, device="meta"))]) == {}
    heard = Heard()
    model = torch.nn.Linear(2, 2, device="meta")
    WeightsMoved().begin(TrainBegin(driver="test", model=model), heard.emit(WeightsMoved))
    state = heard.state("weights.moved")
    assert isinstance(state, Unknown) and state.cause is Cause.NO_ADAPTER


def test_nothing_is_read_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Net()
    training = Training(model, torch.optim.AdamW(model.parameters(), lr=1e-2)).run(2, last=False)
    monkeypatch.setattr(weights, "is_recorded", lambda: True)
    monkeypatch.setattr(weights, "checksums", None)
    training.look(4)
    assert training.value("steps_watched") == 0


def test_what_is_read_in_part_is_never_called_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checksum.WHOLE_BYTES, "cpu", 30)
    model = Net()
    training = Training(model, torch.optim.SGD(model.parameters(), lr=0.0)).run(6)
    assert training.value("moved")[weights.STILL] == 0
    assert training.value("moved")[weights.UNDECIDED] > 0
    assert "a sample" in training.heard.known("weights.moved").source


def test_a_group_at_rate_0_and_a_weight_outside_the_optimizer_are_counted_apart() -> None:
    model = Net()
    groups = [{"params": [model.norm], "lr": 0.0}, {"params": [*model.head.parameters()]}]
    training = Training(model, torch.optim.AdamW(groups, lr=1e-2)).run(6)
    assert str(training.value("moved")) == "1 at learning rate 0, 2 moved, 2 outside the optimizer, 2 without gradient"


def test_a_frozen_weight_rests_unless_the_optimizer_or_the_script_writes_it() -> None:
    said = []
    for stale, write in ((False, False), (True, False), (False, True)):
        model = Net()
        if stale:
            model(torch.randn(2, 4)).sum().backward()
        model.body.requires_grad_(False)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
        if write:
            optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-2)

        def follow(step: int, model: Net = model, write: bool = write) -> None:
            with torch.no_grad():
                model.body.weight.mul_(0.9 if write else 1.0)

        # Zeroed and not dropped, as an old script does: a frozen weight keeps its gradient then.
        optimizer.zero_grad = lambda set_to_none=False, zero=optimizer.zero_grad: zero(False)  # type: ignore[method-assign]
        said.append(Training(model, optimizer).run(6, after=follow).value("moved"))
    assert [tally[weights.AT_REST] for tally in said] == [2, 0, 1]
    assert [tally[weights.OPTIMIZED] for tally in said] == [0, 2, 0]
    assert [tally[weights.REWRITTEN] for tally in said] == [0, 0, 1]


def test_layers_that_take_turns_are_not_called_frozen() -> None:
    model = Net()

    def turn(step: int) -> None:
        model.body.requires_grad_(step % 2 == 0)

    turn(1)
    training = Training(model, torch.optim.AdamW(model.parameters(), lr=1e-2)).run(6, after=lambda step: turn(step + 1))
    assert training.value("moved")[weights.OPTIMIZED] == 0


def test_a_run_that_dropped_its_model_is_judged_as_it_was_last_seen() -> None:
    model = Net(torch.bfloat16)
    training = Training(model, torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)).run(5, last=False)
    assert training.value("steps_watched") == 0, "a warm-up may still hold the rate down"
    training.look(5, last=True, gone=True)
    assert training.value("steps_watched") == 4
    assert training.value("moved")[weights.ROUNDED] > 0


def test_a_short_run_has_watched_no_step_that_decides() -> None:
    model = Net()
    training = Training(model, torch.optim.SGD(model.parameters(), lr=0.0)).run(2)
    assert training.value("steps_watched") == 2


def test_a_gradient_that_is_no_number_is_none() -> None:
    felt = weights._are_felt(
        {
            "late": torch.cat([torch.zeros(999), torch.ones(1)]),
            "zero": -torch.zeros(999),
            "nan": torch.full((3,), torch.nan),
            "bf16": torch.ones(2, dtype=torch.bfloat16),
        }
    )
    assert felt == {"late": True, "zero": False, "nan": False, "bf16": True}


# --- files


def _kinds(model: torch.nn.Module, path: Path, **how: Any) -> dict[str, str]:
    places = dict(model.named_parameters(remove_duplicate=False))
    moment = Restored(
        kind="model", source="test", tensors=4, taken=4, places=places, files=(str(path),), **{"missing": (), **how}
    )
    return dict(checkpoint.compared(moment, deadline=time.monotonic() + 60).values())


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    safetensors.torch.save_model(Net(), str(path))
    return path


def test_weights_of_a_file_are_known_also_in_fewer_bits(saved: Path) -> None:
    assert set(_kinds(Net(), saved).values()) == {checkpoint.AS_FILED}
    assert set(_kinds(Net().bfloat16(), saved).values()) == {checkpoint.AS_FILED}
    assert checkpoint.NEAR in _kinds(Net().bfloat16().float(), saved).values()


def test_weights_made_anew_are_unlike_the_file_and_edited_ones_are_near(saved: Path) -> None:
    model = Net()
    with torch.no_grad():
        model.body.weight += 0.01 * torch.randn(4, 4)
        torch.nn.init.normal_(model.head.weight, std=0.02, generator=torch.Generator().manual_seed(3))
        model.norm *= 0
    kinds = _kinds(model, saved)
    assert kinds["body.weight"] == checkpoint.NEAR
    assert kinds["norm"] == checkpoint.UNLIKE
    assert kinds["unused.weight"] == checkpoint.AS_FILED


def test_a_name_may_lack_its_prefix_and_another_shape_is_told(saved: Path) -> None:
    inside = torch.nn.ModuleDict({"model": Net()})
    assert set(_kinds(inside, saved, prefix="model.").values()) == {checkpoint.AS_FILED}
    model = Net()
    model.head = torch.nn.Linear(4, 2)
    assert _kinds(model, saved)["head.weight"] == checkpoint.RESIZED


def test_a_new_head_is_told_from_a_layer_among_loaded_ones(saved: Path) -> None:
    model = torch.nn.ModuleDict({"layers": torch.nn.ModuleList(Net() for _ in range(2)), "score": Net()})
    missing = tuple(name for name, _ in model.named_parameters() if name.startswith(("layers.1", "score")))
    kinds = _kinds(model, saved, missing=missing)
    assert kinds["layers.1.norm"] == checkpoint.MISSING and kinds["score.norm"] == checkpoint.NEW_PART
    assert kinds["layers.0.norm"] == checkpoint.UNCOMPARED, "the file has another name for it"


def test_files_of_another_format_are_left_to_the_loader(tmp_path: Path) -> None:
    path = tmp_path / "pytorch_model.bin"
    torch.save(Net().state_dict(), path)
    assert set(_kinds(Net(), path).values()) == {checkpoint.UNCOMPARED}


def test_a_state_that_comes_later_has_the_last_word(saved: Path) -> None:
    heard, instrument, model = Heard(), WeightsLoaded(), Net()
    emit = heard.emit(WeightsLoaded)
    places = dict(model.named_parameters())
    with torch.no_grad():
        model.norm.zero_()
    first = Restored(kind="model", source="a", tensors=7, taken=7, places=places, files=(str(saved),))
    second = Restored(kind="state", source="b", tensors=1, taken=1, places={"norm": model.norm})
    instrument.restored(first, emit)
    instrument.restored(second, emit)
    instrument.say(StepBegin(step=1), emit)
    assert str(heard.value("weights.loaded")) == "6 as in the file, 1 loaded again since"
    assert heard.value("weights.restored").rows == (("state", "b", 1, 1, 0),)


def test_where_nothing_was_loaded_that_is_a_fact() -> None:
    heard, instrument = Heard(), WeightsLoaded()
    instrument.say(StepBegin(step=1), heard.emit(WeightsLoaded))
    assert heard.value("weights.loaded").total == 0 and heard.value("weights.restored").rows == ()
