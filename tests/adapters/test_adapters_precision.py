"""Whose word a precision is: the script's, a library's, the environment's, or nobody's."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from affidavit.adapters.torch import precision as casts
from affidavit.adapters.transformers import models, precision
from affidavit.attach.moment import Asked, Implied, Moment, TrainBegin
from affidavit.attach.session import Session

VARIABLE = "ACCELERATE_MIXED_PRECISION"


@dataclass
class Listening:
    """As much of a session as an adapter speaks to."""

    fired: list[Moment] = field(default_factory=list)

    def fire(self, moment: Moment) -> None:
        self.fired.append(moment)

    def shielded(self, call: Any) -> Any:
        return call

    def asked(self, subject: str) -> str:
        return str([one.value for one in self.fired if isinstance(one, Asked) and one.subject == subject][-1])

    def owners(self) -> dict[str, str]:
        return {one.subject: one.owner for one in self.fired if isinstance(one, Implied)}


@pytest.fixture
def session() -> Session:
    return cast(Session, Listening())


def _heard(session: Session) -> Listening:
    return cast(Listening, session)


@pytest.fixture
def bound(session: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[torch.nn.Module]]:
    """A class whose casts are heard, without touching torch's own."""

    class Module(torch.nn.Module):
        pass

    casts.bind_casts(cast(Any, SimpleNamespace(Module=Module)), session)
    yield Module


def _model(module_class: type[torch.nn.Module]) -> Any:
    model: Any = module_class()
    model.layer, model.small = torch.nn.Linear(4, 4), module_class()
    model.small.layer = torch.nn.Linear(1, 1)
    return model


@pytest.mark.parametrize(
    ("cast_it", "expected"),
    [
        (lambda model: model.to(torch.bfloat16), "bfloat16"),
        (lambda model: model.to("cpu", torch.float16), "float16"),
        (lambda model: model.to(device="cpu", dtype=torch.bfloat16), "bfloat16"),
        (lambda model: model.half(), "float16"),
        (lambda model: model.bfloat16().float(), "float32"),
        (lambda model: model.to("cpu"), "unstated"),
        (lambda model: model.small.half(), "unstated"),
        (lambda model: model, "unstated"),
    ],
)
def test_a_cast_of_the_whole_model_is_a_request(bound: Any, session: Session, cast_it: Any, expected: str) -> None:
    model = _model(bound)
    cast_it(model)
    casts.describe(TrainBegin(driver="plain loop", model=model), session)
    assert _heard(session).asked("weight precision") == expected
    assert _heard(session).asked("precision") == "unstated"


def test_a_cast_that_a_library_makes_is_not_the_scripts(bound: Any, session: Session) -> None:
    model = _model(bound)
    library = compile("model.half()", "/somewhere/site-packages/library/engine.py", "exec")
    exec(library, {"model": model})
    casts.describe(TrainBegin(driver="plain loop", model=model), session)
    assert _heard(session).asked("weight precision") == "unstated"


def test_a_librarys_own_version_of_a_cast_is_looked_past(bound: Any, session: Session) -> None:
    source = "class Wrapped(Module):\n    def to(self, *given):\n        return super().to(*given)\n"
    names = {"Module": bound, "__name__": "library"}
    exec(compile(source, "/somewhere/site-packages/library/model.py", "exec"), names)
    model = _model(cast(Any, names["Wrapped"]))
    model.to(torch.bfloat16)
    casts.describe(TrainBegin(driver="plain loop", model=model), session)
    assert _heard(session).asked("weight precision") == "bfloat16"


def _described(session: Session, monkeypatch: pytest.MonkeyPatch, outside: str, named: set[str], **flags: Any) -> None:
    arguments = SimpleNamespace(**{"bf16": False, "fp16": False} | flags)
    monkeypatch.setattr(precision, "is_set", lambda _, name: name in named)
    monkeypatch.setenv(VARIABLE, outside)
    precision.describe(TrainBegin(driver="loop", model=None, arguments=arguments), session)


@pytest.mark.parametrize(
    ("flags", "named", "expected"),
    [
        ({"bf16": True}, {"bf16"}, "bf16"),
        ({"fp16": True}, {"fp16"}, "fp16"),
        ({"bf16": False}, {"bf16"}, "float32"),
        ({"fp16": False}, {"fp16"}, "unstated"),
        ({"fp16": False, "bf16": True}, {"fp16"}, "unstated"),
        ({"fp16": True, "bf16": False}, {"fp16", "bf16"}, "fp16"),
        ({"bf16": True}, set(), "unstated"),
    ],
)
def test_only_what_was_named_is_a_request(
    session: Session, monkeypatch: pytest.MonkeyPatch, flags: dict[str, bool], named: set[str], expected: str
) -> None:
    _described(session, monkeypatch, "no", named, **flags)
    assert _heard(session).asked("precision") == expected


@pytest.mark.parametrize(
    ("outside", "flags", "named", "said"),
    [
        ("bf16", {}, set(), ["bf16"]),
        ("bf16", {"bf16": True}, {"bf16"}, ["bf16"]),
        ("bf16", {"bf16": False}, {"bf16"}, ["bf16"]),
        ("bf16", {"bf16": True}, set(), []),
        ("fp16", {"bf16": True}, set(), ["fp16"]),
        ("no", {}, set(), []),
        ("", {}, set(), []),
    ],
)
def test_the_environment_is_told_unless_it_says_what_holds_without_it(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    outside: str,
    flags: dict[str, bool],
    named: set[str],
    said: list[str],
) -> None:
    _described(session, monkeypatch, outside, named, **flags)
    fired = [one for one in _heard(session).fired if isinstance(one, Asked) and one.subject == "precision outside"]
    assert [one.value for one in fired] == said


@pytest.mark.parametrize(
    ("outside", "flags", "owner"),
    [
        ("no", {"bf16": True}, "default of SimpleNamespace: bf16=True"),
        ("bf16", {}, f"environment: {VARIABLE}=bf16"),
        ("bf16", {"bf16": True}, "default of SimpleNamespace: bf16=True"),
    ],
)
def test_who_decided_is_known(
    session: Session, monkeypatch: pytest.MonkeyPatch, outside: str, flags: dict[str, bool], owner: str
) -> None:
    _described(session, monkeypatch, outside, set(), **flags)
    assert _heard(session).owners() == {"precision.matmul_types": owner}


@pytest.mark.parametrize(
    ("asked", "by", "wished", "expected", "owner"),
    [
        ("bfloat16", "__main__", None, "bfloat16", None),
        ("", "__main__", None, "unstated", "default of from_pretrained"),
        ("auto", "__main__", None, "unstated", 'checkpoint, by from_pretrained(dtype="auto")'),
        ("float32", "trl", None, "unstated", "default of trl"),
        ("bfloat16", "trl", "bfloat16", "bfloat16", None),
        ("float32", "__main__", torch.bfloat16, "bfloat16", None),
    ],
)
def test_a_type_is_asked_for_by_whoever_names_it(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    by: str,
    wished: Any,
    expected: str,
    owner: str | None,
) -> None:
    """A library that loads a model by its path names a type where the script named none."""
    model = torch.nn.Linear(4, 4)
    load = models._Load(model=weakref.ref(model), type=asked, by=by, at=time.monotonic())
    monkeypatch.setattr(models, "_loads", {id(model): load})
    arguments = SimpleNamespace(model_init_kwargs=wished and {"dtype": wished})
    models.describe(TrainBegin(driver="loop", model=model, arguments=arguments), session)
    assert _heard(session).asked("weight precision") == expected
    assert _heard(session).owners().get("precision.weight_types") == owner


def test_a_cast_after_loading_is_the_last_word(bound: Any, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model(bound)
    load = models._Load(model=weakref.ref(model), type="bfloat16", by="__main__", at=time.monotonic())
    monkeypatch.setattr(models, "_loads", {id(model): load})
    model.float()
    moment = TrainBegin(driver="loop", model=model)
    casts.describe(moment, session)
    models.describe(moment, session)
    assert _heard(session).asked("weight precision") == "float32"


def test_who_hands_a_call_on_did_not_make_it() -> None:
    frame: Any = SimpleNamespace(f_globals={"__name__": "trl.trainer"}, f_back=None)
    for name in ("peft.model", "transformers.models.auto"):
        frame = SimpleNamespace(f_globals={"__name__": name}, f_back=frame)
    found = models._caller(frame)
    assert found is not None and found.f_globals["__name__"] == "trl.trainer"
