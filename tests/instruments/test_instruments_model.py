"""What is said of a model as a whole, of its special tokens, of its adapters and of torch's switches."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import peft
import pytest
import torch
from test_instruments_loop import Seen

from affidavit.adapters import peft as peft_adapter
from affidavit.attach.moment import Adapted, Asked, Gradients, Loaded, StepBegin, TrainBegin
from affidavit.fact.values import Layers, Table
from affidavit.instruments.adapter import AdapterSettings
from affidavit.instruments.determinism import Determinism
from affidavit.instruments.model import Checkpointing, Compilation, SpecialTokens


def _model(*switches: bool) -> torch.nn.Module:
    model = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in switches))
    for layer, switch in zip(model, switches):
        layer.gradient_checkpointing = switch
    return model


@pytest.mark.parametrize(
    ("switches", "said"), [((True, True), "on"), ((True, False), "partly"), ((False, False), "off"), ((), "off")]
)
def test_checkpointing_is_read_from_each_layer(switches: tuple[bool, ...], said: str) -> None:
    seen = Seen(Checkpointing()).hear(TrainBegin(driver="a loop", model=_model(*switches)))
    assert seen.value("model.checkpointing") == said


class Block(torch.nn.Module):
    """A part that torch compiles in place; a linear layer of its own it leaves alone there."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.inner(rows) + 1


class TestCompilation:
    @pytest.fixture(autouse=True)
    def _counted_anew(self) -> Any:
        from torch._dynamo.utils import counters

        torch._dynamo.reset()
        before = {name: counters[name].copy() for name in counters}
        counters.clear()
        yield
        counters.clear()
        counters.update(before)

    def _seen(self, model: Any, *, asked: bool = True) -> object:
        seen = Seen(Compilation())
        if asked:
            seen.hear(Asked(subject="model.compiled", value="whole", source="here"))
        return seen.hear(Gradients(step=2, model=model, optimizer=None)).value("model.compiled")

    def test_nothing_was_compiled(self) -> None:
        assert self._seen(torch.nn.Linear(2, 2)) == self._seen(torch.nn.Linear(2, 2), asked=False) == "no"

    def test_a_wrapped_model_is_whole(self) -> None:
        model = torch.nn.Linear(2, 2)
        wrapper = torch.compile(model, backend="eager")
        wrapper(torch.ones(1, 2))
        assert self._seen(model, asked=False) == "whole"

    def test_a_part_is_a_part(self) -> None:
        model = torch.nn.Sequential(Block())
        model[0].compile(backend="eager")
        model(torch.ones(1, 2))
        assert self._seen(model) == "parts"

    def test_a_function_is_no_model(self) -> None:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
        assert self._seen(torch.nn.Linear(2, 2)) == "functions"

    def test_a_model_that_nobody_called_through_its_wrapper_is_compiled_in_vain(self) -> None:
        model = torch.nn.Linear(2, 2)
        wrapper = torch.compile(model, backend="eager")
        assert self._seen(model) == "in vain"
        assert wrapper is not None


@dataclass(frozen=True)
class Ids:
    """As much of a tokenizer as is asked here."""

    end: int | None
    pad: int | None = 0

    @property
    def ends(self) -> frozenset[int]:
        return frozenset(() if self.end is None else (self.end,))


@dataclass(eq=False)
class Generating:
    config: Any = field(default_factory=lambda: SimpleNamespace(eos_token_id=5, pad_token_id=0))
    generation_config: Any = field(default_factory=lambda: SimpleNamespace(eos_token_id=[5, 1], pad_token_id=None))


def _tokens(*built: Ids, named: Ids | None = None, model: Any = None) -> tuple[tuple[object, ...], ...]:
    moments = [Loaded(kind="tokenizer", item=one, source="here") for one in built]
    begin = TrainBegin(driver="a loop", model=Generating() if model is None else model, tokenizer=named)
    seen = Seen(SpecialTokens()).hear(*moments, begin, StepBegin(step=1), StepBegin(step=2))
    table = seen.value("model.special_tokens")
    assert isinstance(table, Table)
    return table.rows


def test_special_tokens_stand_side_by_side() -> None:
    assert _tokens(Ids(5)) == (("end", "5", "5", "1, 5"), ("padding", "0", "0", ""))
    assert _tokens(Ids(7), named=Ids(1))[0] == ("end", "1", "5", "1, 5")
    assert _tokens(Ids(None))[0] == ("end", "", "5", "1, 5")


def test_of_tokenizers_that_disagree_none_speaks_for_the_model() -> None:
    assert _tokens(Ids(5), Ids(7)) == ()
    assert _tokens() == ()
    assert _tokens(Ids(5), model=object()) == ()


def test_the_seed_and_the_switches_are_those_in_effect() -> None:
    torch.manual_seed(7)
    seen = Seen(Determinism()).hear(TrainBegin(driver="a loop", model=None))
    settings = seen.value("determinism.settings")
    assert isinstance(settings, Table)
    held = dict(zip(settings.column("setting"), settings.column("value")))
    assert seen.value("determinism.seed") == 7
    assert held["deterministic algorithms"] == "off" and held["threads"] == str(torch.get_num_threads())


def test_a_switch_that_torch_refuses_to_read_is_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise RuntimeError("legacy and new")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", refuse)
    settings = Seen(Determinism()).hear(TrainBegin(driver="a loop", model=None)).value("determinism.settings")
    assert isinstance(settings, Table)
    assert ("float32 matmul precision", "mixed") in settings.rows


class TestAdapterSettings:
    def _seen(self, change: Any = None, **wishes: Any) -> Seen:
        inner = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
        config = peft.LoraConfig(target_modules=["0", "1"], **wishes)
        model = peft.get_peft_model(inner, config)
        if change is not None:
            change(model)
        fired: list[Adapted] = []
        peft_adapter.describe(TrainBegin(driver="a loop", model=model), SimpleNamespace(fire=fired.append))  # type: ignore[arg-type]
        return Seen(AdapterSettings()).hear(*fired, StepBegin(step=1))

    def _layers(self, value: object) -> list[str]:
        assert isinstance(value, Layers)
        return list(value.expand().values())

    @pytest.mark.parametrize(
        ("wishes", "said"),
        [
            ({"r": 4, "lora_alpha": 8, "lora_dropout": 0.1}, ["rank 4, scale 2, dropout 0.1"] * 2),
            ({"r": 4, "lora_alpha": 8, "use_rslora": True}, ["rank 4, scale 4, dropout 0"] * 2),
            (
                {"r": 4, "lora_alpha": 8, "rank_pattern": {"1": 2}, "alpha_pattern": {"1": 1}},
                ["rank 4, scale 2, dropout 0", "rank 2, scale 0.5, dropout 0"],
            ),
        ],
    )
    def test_what_runs_is_what_a_config_says(self, wishes: dict[str, Any], said: list[str]) -> None:
        seen = self._seen(**wishes)
        assert self._layers(seen.value("adapter.settings")) == said
        assert self._layers(seen.request("adapter.settings")) == said

    def test_a_config_that_changes_later_changes_nothing(self) -> None:
        def change(model: Any) -> None:
            model.peft_config["default"].lora_alpha = 32

        seen = self._seen(change, r=4, lora_alpha=4)
        assert self._layers(seen.value("adapter.settings")) == ["rank 4, scale 1, dropout 0"] * 2
        assert self._layers(seen.request("adapter.settings")) == ["rank 4, scale 8, dropout 0"] * 2

    def test_no_adapter_is_no_silence(self) -> None:
        assert Seen(AdapterSettings()).hear(StepBegin(step=1)).value("adapter.settings") == Layers(())
