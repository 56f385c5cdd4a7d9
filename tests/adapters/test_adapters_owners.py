"""What a Trainer's places, an Accelerator's and an engine's say of one value, and whose word it has."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from affidavit.adapters import deepspeed
from affidavit.adapters.torch import claims
from affidavit.adapters.transformers import owners
from affidavit.attach.claim import Claim, Claimed
from affidavit.attach.moment import Moment, TrainBegin
from affidavit.attach.session import Session

MODEL = torch.nn.Linear(2, 2)


@dataclass
class Listening:
    """As much of a session as an adapter speaks to."""

    fired: list[Moment] = field(default_factory=list)

    def fire(self, moment: Moment) -> None:
        self.fired.append(moment)

    def shielded(self, call: Any) -> Any:
        return call

    def told(self, subject: str) -> tuple[list[tuple[str, str, bool]], str]:
        """Return who said what of a subject and whether a person did, and the live value that was told last."""
        moments = [one for one in self.fired if isinstance(one, Claimed) and one.subject == subject]
        said = [(claim.owner, claim.value, claim.typed) for one in moments for claim in one.claims]
        return said, next((one.live for one in reversed(moments) if one.live), "")


@dataclass
class Arguments:
    """The arguments of a Trainer, as far as several places have a word on them."""

    bf16: bool = False
    fp16: bool = False
    mixed_precision: str = "no"
    max_grad_norm: float = 1.0
    gradient_accumulation_steps: int = 1
    per_device_train_batch_size: int = 8
    learning_rate: float = 5e-5
    weight_decay: float = 0.0
    optim: str = "adamw_torch"
    lr_scheduler_type: str = "linear"
    deepspeed: Any = None
    model_init_kwargs: Any = None


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of a launcher, and no engine or Accelerator of another test."""
    for name in (*claims.WRITTEN_BY_ITSELF, deepspeed.WRITTEN):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(deepspeed, "_last", deepspeed._Engine())


@pytest.fixture
def session() -> Session:
    return cast(Session, Listening())


@pytest.fixture
def describe(session: Session, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Listening]:
    """Describe a Trainer whose script named some arguments, under what the environment said before."""

    def described(named: tuple[str, ...] = (), before: str = "", **moment: Any) -> Listening:
        monkeypatch.setattr(owners, "is_set", lambda arguments, name: name in named)
        monkeypatch.setattr(owners, "outside_before", lambda arguments: before)
        begins: dict[str, Any] = {"model": MODEL, "arguments": Arguments(), **moment}
        owners.describe(TrainBegin(driver="a Trainer", **begins), session)
        return cast(Listening, session)

    return described


def test_what_the_launcher_asks_is_a_persons_word_and_the_default_of_the_arguments_is_not(
    describe: Callable[..., Listening], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4")
    monkeypatch.setenv("ACCELERATE_GRADIENT_CLIPPING", "0.5")
    heard = describe(named=("max_grad_norm",), arguments=Arguments(max_grad_norm=0.3))
    assert heard.told("gradient accumulation") == (
        [
            ("environment: ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4", True),
            ("Arguments, default of gradient_accumulation_steps", "1", False),
        ],
        "1",
    )
    assert heard.told("gradient clipping") == (
        [("environment: ACCELERATE_GRADIENT_CLIPPING", "0.5", True), ("Arguments(max_grad_norm=…)", "0.3", True)],
        "0.3",
    )


@pytest.mark.parametrize(("variable", "values"), claims.WRITTEN_BY_ITSELF.items())
def test_what_a_launcher_writes_by_itself_is_nobodys_word(
    variable: str, values: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in values:
        monkeypatch.setenv(variable, value)
        assert not any(claim.typed for claim in claims.outside(variable, "a.term"))


def test_a_precision_that_a_class_takes_by_default_is_told_beside_the_launchers(
    describe: Callable[..., Listening],
) -> None:
    heard = describe(before="fp16", arguments=Arguments(bf16=True, mixed_precision="bf16"))
    assert heard.told("mixed precision") == (
        [("environment: ACCELERATE_MIXED_PRECISION", "fp16", True), ("Arguments, default of bf16", "bf16", False)],
        "bf16",
    )


def test_flags_that_nobody_set_leave_precision_to_the_environment(describe: Callable[..., Listening]) -> None:
    heard = describe(before="bf16", arguments=Arguments(mixed_precision="bf16"))
    assert heard.told("mixed precision") == ([("environment: ACCELERATE_MIXED_PRECISION", "bf16", True)], "bf16")


def test_a_precision_that_other_arguments_left_in_the_environment_is_no_word(
    describe: Callable[..., Listening], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "is_from_arguments", lambda value: value == "fp16")
    heard = describe(before="fp16", arguments=Arguments(bf16=True, mixed_precision="bf16"))
    assert heard.told("mixed precision") == ([("Arguments, default of bf16", "bf16", False)], "bf16")


def test_an_optimizer_that_was_handed_over_and_lost_keeps_what_it_said(
    describe: Callable[..., Listening],
) -> None:
    arguments = Arguments(learning_rate=1e-3)
    mine = torch.optim.SGD(MODEL.parameters(), lr=0.5, weight_decay=0.1)
    made = torch.optim.AdamW(MODEL.parameters(), lr=1e-3, weight_decay=0.0)
    _hand_over(arguments, mine, None)
    heard = describe(named=("learning_rate",), arguments=arguments, optimizer=made)
    assert heard.told("learning rate") == (
        [(owners.HANDED, "0.5", True), ("Arguments(learning_rate=…)", "0.001", True)],
        "0.001",
    )
    assert heard.told("optimizer") == (
        [(owners.HANDED, "sgd", True), ("Arguments, default of optim", "adam or adamw", False)],
        "adam or adamw",
    )
    assert heard.told("weight decay")[0][0] == (owners.HANDED, "0.1", True)


def test_the_object_that_trains_says_what_it_has_by_now(describe: Callable[..., Listening]) -> None:
    arguments = Arguments()
    mine = torch.optim.SGD(MODEL.parameters(), lr=0.5)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(mine, 10)
    _hand_over(arguments, mine, cosine)
    mine.param_groups[0]["initial_lr"] = 0.25
    heard = describe(arguments=arguments, optimizer=mine, scheduler=cosine)
    assert heard.told("learning rate") == (
        [(owners.HANDED, "0.25", True), ("Arguments, default of learning_rate", "5e-05", False)],
        "0.25",
    )
    assert heard.told("schedule")[1] == "CosineAnnealingLR"


def _hand_over(arguments: Arguments, optimizer: Any, scheduler: Any) -> None:
    """Make a Trainer whose callbacks hear that it is made, as ours does."""

    def made(args: Any, optimizers: tuple[Any, Any]) -> None:
        import sys

        owners.remember_handed(args, sys._getframe())

    made(arguments, (optimizer, scheduler))


def test_schedules_are_named_after_what_makes_them() -> None:
    from transformers import get_cosine_schedule_with_warmup

    optimizer = torch.optim.SGD(MODEL.parameters(), lr=0.5)
    assert claims.schedule_kind(get_cosine_schedule_with_warmup(optimizer, 1, 4)) == "cosine"
    assert claims.schedule_kind(torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)) == "LambdaLR"
    assert claims.saying(None) == {} == claims.saying(lambda optimizer: None)


def test_a_model_and_the_settings_for_making_one_may_name_two_implementations(
    describe: Callable[..., Listening], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "claims_of", lambda model: (Claim("Model(attn_implementation=…)", "sdpa", typed=True),))
    model = SimpleNamespace(config=SimpleNamespace(_attn_implementation="sdpa"))
    arguments = Arguments(model_init_kwargs={"attn_implementation": "eager"})
    assert describe(arguments=arguments, model=model).told("attention") == (
        [("Model(attn_implementation=…)", "sdpa", True), ("Arguments(model_init_kwargs=…)", "eager", True)],
        "sdpa",
    )


class Engine:
    """As much of an engine as is read."""

    def __init__(self, optimizer: Any, scheduler: Any, clipping: float = 0.0, steps: int = 1) -> None:
        self.optimizer, self.lr_scheduler = optimizer, scheduler
        self._clipping, self._steps = clipping, steps

    def gradient_clipping(self) -> float:
        return self._clipping

    def gradient_accumulation_steps(self) -> int:
        return self._steps


def _initialized(session: Session, engine: Engine, **given: Any) -> Engine:
    """Bind a module that makes this engine, call it, and describe the training."""

    def initialize(args=None, model=None, optimizer=None, lr_scheduler=None, config=None, config_params=None):  # type: ignore[no-untyped-def]
        return engine, engine.optimizer, None, engine.lr_scheduler

    module = cast(Any, SimpleNamespace(initialize=initialize))
    deepspeed.bind_deepspeed(module, session)
    assert module.initialize(model=MODEL, **given)[0] is engine
    deepspeed.describe(TrainBegin(driver="plain loop", model=MODEL, arguments=given.get("arguments")), session)
    return engine


def test_an_engines_file_and_what_it_was_handed_are_told(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "engine.json"
    file.write_text(
        json.dumps(
            {
                "gradient_clipping": 0.5,
                "gradient_accumulation_steps": "auto",
                "train_micro_batch_size_per_gpu": 4,
                "optimizer": {"type": "Adam", "params": {"lr": 0.1, "weight_decay": "auto"}},
            }
        )
    )
    mine = torch.optim.SGD(MODEL.parameters(), lr=0.5)
    engine = _initialized(session, Engine(mine, None, clipping=0.5), optimizer=mine, config=str(file))
    heard = cast(Listening, session)
    assert heard.told("gradient clipping") == ([("DeepSpeed config: gradient_clipping", "0.5", True)], "0.5")
    assert heard.told("gradient accumulation") == ([], "")
    assert heard.told("rows a micro-batch")[0] == [("DeepSpeed config: train_micro_batch_size_per_gpu", "4", True)]
    assert heard.told("learning rate") == (
        [("DeepSpeed config: optimizer.params.lr", "0.1", True), (deepspeed.HANDED, "0.5", True)],
        "0.5",
    )
    assert heard.told("optimizer")[0][0] == ("DeepSpeed config: optimizer.type", "adam or adamw", True)
    assert engine is deepspeed._last.find()


def test_clipping_that_the_file_leaves_out_is_none(session: Session) -> None:
    _initialized(session, Engine(torch.optim.SGD(MODEL.parameters(), lr=0.5), None), config={"fp16": {"enabled": True}})
    assert cast(Listening, session).told("gradient clipping") == (
        [("DeepSpeed config, default of gradient_clipping", "0", False)],
        "0",
    )


@pytest.mark.parametrize("config", [None, "no such file", 7, "x" * 5000])
def test_a_config_that_cannot_be_read_says_nothing(session: Session, config: Any) -> None:
    engine = _initialized(session, Engine(torch.optim.SGD(MODEL.parameters(), lr=0.5), None), config=config)
    assert cast(Listening, session).fired == []
    assert engine.optimizer is not None


def test_a_file_that_was_filled_in_is_read_as_it_was_written(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "engine.json"
    written.write_text(json.dumps({"gradient_clipping": "auto", "gradient_accumulation_steps": 2}))
    filled = {"gradient_clipping": 1.0, "gradient_accumulation_steps": 2}
    engine = Engine(torch.optim.SGD(MODEL.parameters(), lr=0.5), None, clipping=1.0, steps=2)
    monkeypatch.setattr(deepspeed, "FILLED_BY", (__name__.partition(".")[0],))
    monkeypatch.setenv(deepspeed.WRITTEN, str(written))
    _initialized(session, engine, config_params=filled)
    heard = cast(Listening, session)
    assert heard.told("gradient clipping") == ([], "")
    assert heard.told("gradient accumulation") == (
        [("DeepSpeed config: gradient_accumulation_steps", "2", True)],
        "2",
    )


def test_an_engine_is_made_also_where_its_call_could_not_be_read(session: Session) -> None:
    engine = Engine(torch.optim.SGD(MODEL.parameters(), lr=0.5), None)
    module = cast(Any, SimpleNamespace(initialize=lambda *words: (engine,)))
    deepspeed.bind_deepspeed(module, session)
    assert module.initialize(1, 2) == (engine,)
    deepspeed.describe(TrainBegin(driver="plain loop", model=MODEL), session)
    assert cast(Listening, session).fired == []
