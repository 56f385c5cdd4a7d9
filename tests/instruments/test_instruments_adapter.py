"""Adapted modules are counted by the name that asked for them; what nothing asked for is counted as itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from affidavit.attach.instrument import Emit, Instrument
from affidavit.attach.moment import Adapted, Gradients, StepBegin
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.vocabulary import load
from affidavit.instruments.adapter import AdapterTargets, AdapterTraining, _by_name


@dataclass
class Gradient:
    """As much of a tensor as the instrument reads."""

    values: tuple[float, ...]

    def any(self) -> bool:
        return any(self.values)

    def numel(self) -> int:
        return len(self.values)


@dataclass
class Sharded:
    """A tensor whose parts lie on several ranks: to look at the whole is a collective."""

    _local_tensor: Gradient

    def any(self) -> bool:
        raise AssertionError("every rank would have to join")


@dataclass(eq=False)
class Parameter:
    grad: Gradient | Sharded | None = None


@dataclass
class Optimizer:
    param_groups: list[dict[str, list[Parameter]]]


@dataclass
class Model:
    own: list[Parameter]

    def parameters(self) -> list[Parameter]:
        return self.own


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


@pytest.mark.parametrize(
    ("asked", "paths", "expected"),
    [
        (("q_proj", "v_proj"), ("m.0.q_proj", "m.0.v_proj", "m.1.q_proj"), {"q_proj": 2, "v_proj": 1}),
        (("proj",), ("m.0.q_proj",), {"proj": 1}),
        (("q_proj", "gate"), ("m.0.q_proj", "m.0.up"), {"q_proj": 1, "up": 1}),
        (("attn.q_proj", "q_proj"), ("m.attn.q_proj", "m.mlp.q_proj"), {"attn.q_proj": 1, "q_proj": 2}),
        (("q_proj", "attn.q_proj"), ("m.attn.q_proj",), {"q_proj": 1, "attn.q_proj": 1}),
        ((r".*\.(q|v)_proj",), ("m.0.q_proj", "m.0.v_proj"), {r".*\.(q|v)_proj": 2}),
        (("all-linear",), ("m.0.q_proj", "m.0.up"), {"all-linear": 2}),
        (("m.0.q_proj",), ("m.0.q_proj",), {"m.0.q_proj": 1}),
        (("q_proj",), (), {}),
        ((), ("m.0.q_proj",), {"q_proj": 1}),
    ],
)
def test_modules_are_counted_by_the_name_that_asked(
    asked: tuple[str, ...], paths: tuple[str, ...], expected: dict[str, int]
) -> None:
    assert _by_name(asked, dict.fromkeys(paths)) == expected


def _adapted(*names: str, modules: dict[str, tuple[Parameter, ...]]) -> Adapted:
    return Adapted(kind="lora", asked=names, modules=modules, source="LoraConfig(…)")


def test_a_name_that_matched_nothing_is_counted_zero_beside_its_twin_that_did() -> None:
    counts = []
    for name in ("gate_up_proj", "gate_proj"):
        heard = Heard()
        moment = _adapted("q_proj", name, modules={"m.q_proj": (), "m.gate_proj": ()})
        AdapterTargets().adapted(moment, heard.emit(AdapterTargets))
        state = heard.state("adapter.matched")
        assert isinstance(state, Known)
        counts.append(str(state.value))
    assert counts == ["1 gate_proj, 0 gate_up_proj, 1 q_proj", "1 gate_proj, 1 q_proj"]


def test_no_adapter_is_a_fact_and_not_a_silence() -> None:
    heard = Heard()
    AdapterTargets().none(StepBegin(step=1), heard.emit(AdapterTargets))
    state = heard.state("adapter.kind")
    assert isinstance(state, Known) and state.value == "none"


def _trained(gradient: Gradient | Sharded | None, *, owned: bool = True, model_owned: bool = True) -> Known | Unknown:
    heard, instrument = Heard(), AdapterTraining()
    emit = heard.emit(AdapterTraining)
    first, second, other = Parameter(Gradient((0.0, 0.0))), Parameter(gradient), Parameter(Gradient((1.0,)))
    instrument.adapted(_adapted("q_proj", modules={"m.q_proj": (first, second)}), emit)
    groups = [{"params": [first, second] if owned else [other]}]
    model = Model([first, second, other] if model_owned else [first, second])
    instrument.gradients(Gradients(step=2, model=model, optimizer=Optimizer(groups)), emit)
    return heard.state("adapter.trained")


@pytest.mark.parametrize(
    ("gradient", "owned", "expected"),
    [
        (Gradient((0.0, 0.5)), True, "1 q_proj"),
        (Gradient((0.0, 0.0)), True, "0 q_proj"),
        (None, True, "0 q_proj"),
        (Gradient((0.0, 0.5)), False, "0 q_proj"),
        (Sharded(Gradient((0.5,))), True, "1 q_proj"),
        (Sharded(Gradient((0.0,))), True, "0 q_proj"),
    ],
)
def test_an_adapter_trains_when_a_gradient_came_and_the_optimizer_owns_it(
    gradient: Gradient | Sharded | None, owned: bool, expected: str
) -> None:
    state = _trained(gradient, owned=owned)
    assert isinstance(state, Known) and str(state.value) == expected


def test_an_engine_that_trains_copies_is_not_called_untrained() -> None:
    state = _trained(Gradient((1.0,)), owned=False, model_owned=False)
    assert isinstance(state, Unknown) and state.cause is Cause.NO_ADAPTER


def test_a_module_whose_parts_all_lie_elsewhere_is_not_called_untrained() -> None:
    heard, instrument = Heard(), AdapterTraining()
    emit = heard.emit(AdapterTraining)
    empty = Parameter(Sharded(Gradient(())))
    instrument.adapted(_adapted("q_proj", modules={"m.q_proj": (empty,)}), emit)
    instrument.gradients(Gradients(step=2, model=Model([empty]), optimizer=Optimizer([{"params": [empty]}])), emit)
    state = heard.state("adapter.trained")
    assert isinstance(state, Known) and str(state.value) == "1 q_proj"


def test_a_pattern_explains_what_no_name_beside_it_does() -> None:
    modules = dict.fromkeys(("model.layers.0.q_proj", "model.layers.1.q_proj", "lm_head"), ())
    pattern = r".*\.q_proj"
    assert _by_name((pattern, "lm_head"), modules) == {pattern: 2, "lm_head": 1}
    assert _by_name(("v_proj", "lm_head"), modules) == {"q_proj": 2, "lm_head": 1}
