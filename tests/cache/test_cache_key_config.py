"""Every field of a configuration joins the key by itself, but for secrets and what is left out for a reason."""

from __future__ import annotations

import dataclasses
import types
from argparse import Namespace
from typing import Any

import pytest

from affidavit.cache.key import preimage_of
from affidavit.cache.preimage import differ


def plain(row: Any) -> Any:
    return row


@dataclasses.dataclass
class Inner:
    rate: float = 0.1


@dataclasses.dataclass
class Config:
    mask: tuple[str, ...] = ("user",)
    inner: Inner = dataclasses.field(default_factory=Inner)
    text_key: str = "text"
    hub_token: str = ""

    @property
    def doubled(self) -> float:
        return self.inner.rate * 2


def _pydantic(**fields: Any) -> Any:
    pydantic = pytest.importorskip("pydantic")
    return pydantic.create_model("Model", mask=(tuple[str, ...], ("user",)), rate=(float, 0.1))(**fields)


CONFIGS = [
    (Config(), Config(mask=("none",)), "config mask was ('user',), is ('none',)"),
    (Config(), Config(inner=Inner(0.2)), "config inner.rate was 0.1, is 0.2"),
    (Config(), Config(text_key="prompt"), "config text_key was 'text', is 'prompt'"),
    (Namespace(mask=1), Namespace(mask=True), "config mask was 1, is True"),
    (Namespace(mask=1), Namespace(mask=1.0), "config mask was 1, is 1.0"),
    (types.SimpleNamespace(a=1), types.SimpleNamespace(a=1, b=2), "config b is new: 2"),
    ({"a": {"b": [1, 2]}}, {"a": {"b": (1, 2)}}, "config a.b was [1, 2], is (1, 2)"),
    ({"a": {}}, {"a": {"b": None}}, "config a is gone"),
    (_pydantic(), _pydantic(rate=0.2), "config rate was 0.1, is 0.2"),
    (float("nan"), float("inf"), "config value was nan, is inf"),
    ("a", "b", "config value was 'a', is 'b'"),
    ({"n": 2**70}, {"n": 2**70 + 1}, "config n was 1180591620717411303424, is 1180591620717411303425"),
]


@pytest.mark.parametrize(("before", "after", "says"), CONFIGS)
def test_every_field_of_a_configuration_joins_by_itself(before: Any, after: Any, says: str) -> None:
    changes = differ(preimage_of(plain, config=before), preimage_of(plain, config=after))
    assert says in "\n".join(change.says for change in changes)


def test_fields_in_another_order_are_the_same_configuration() -> None:
    one, two = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert preimage_of(plain, config=one).digest == preimage_of(plain, config=two).digest


def test_a_secret_is_neither_shown_nor_hashed() -> None:
    one, two = (preimage_of(plain, config=Config(hub_token=f"hf_{letter * 34}")) for letter in "ab")
    assert one.digest == two.digest
    assert "aaaa" not in str(one.to_json())


def test_an_opt_out_stands_in_the_pre_image_with_its_reason() -> None:
    reason = {"inner": "the optimizer's alone"}
    one, two = (preimage_of(plain, config=Config(inner=Inner(rate)), irrelevant=reason) for rate in (0.1, 0.2))
    assert one.digest == two.digest
    assert [(part.name, part.shown) for part in one.of_kind("irrelevant")] == [("inner", "the optimizer's alone")]
    assert preimage_of(plain, config=Config()).digest != one.digest
