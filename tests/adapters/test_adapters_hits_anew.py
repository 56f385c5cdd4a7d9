"""What datasets builds anew is no hit; a tokenizer is seen by its attributes and not by its class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from twodays import Days, World, looked


def a_global_of_a_script(world: World) -> Days:
    script = "def encode(row):\n    return {'y': row['x'] * K}\n"
    yield world.main(script, K=1)["encode"]
    yield world.main(script, K=2)["encode"]


def a_value_of_a_closure(world: World) -> Days:
    script = "def make(k):\n    def encode(row):\n        return {'y': row['x'] * k}\n    return encode\n"
    yield world.main(script)["make"](1)
    yield world.main(script)["make"](2)


def a_default_of_a_script(world: World) -> Days:
    yield world.main("def encode(row, k=1):\n    return {'y': row['x'] * k}\n")["encode"]
    yield world.main("def encode(row, k=2):\n    return {'y': row['x'] * k}\n")["encode"]


def an_argument_of_a_partial(world: World) -> Days:
    function = world.main("def encode(row, k):\n    return {'y': row['x'] * k}\n")["encode"]
    yield functools.partial(function, k=1)
    yield functools.partial(function, k=2)


def a_module_in_a_plain_folder(world: World) -> Days:
    script = "def encode(row):\n    return {'y': row['x'] * helper.K}\n"
    helper = world.module("helper", "K = 1\n")
    yield world.main(script, helper=helper)["encode"]
    helper.K = 2  # type: ignore[attr-defined]
    yield world.main(script, helper=helper)["encode"]


def a_class_of_a_script(world: World) -> Days:
    for k in (1, 2):
        script = f"class Policy:\n    K = {k}\ndef encode(row):\n    return {{'y': row['x'] * Policy.K}}\n"
        yield world.main(script)["encode"]


def an_attribute_of_an_argument(world: World) -> Days:
    module = world.module("classes", "class Tokens:\n    pad = 0\n")
    tokens = module.Tokens()
    for tokens.pad in (1, 2):
        yield world.main("def encode(row):\n    return {'y': row['x'] + tokens.pad}\n", tokens=tokens)["encode"]


SEEN = (
    a_global_of_a_script,
    a_value_of_a_closure,
    a_default_of_a_script,
    an_argument_of_a_partial,
    a_module_in_a_plain_folder,
    a_class_of_a_script,
    an_attribute_of_an_argument,
)


@pytest.mark.parametrize("row", SEEN, ids=lambda row: row.__name__)
def test_what_is_built_anew_is_no_hit(world: World, row: Callable[[World], Days]) -> None:
    days = row(world)
    world.rows().map(next(days))
    function = next(days)
    again = world.rows().map(function)
    assert again.to_list() == [{**one, **function(one)} for one in world.rows()]
    assert world.fired == []


@pytest.mark.parametrize("attribute", ["model_max_length", "chat_template", "tokens", "post_processor"])
def test_a_tokenizer_that_is_changed_in_place_is_seen_by_datasets(world: World, attribute: str) -> None:
    import tiny
    from tokenizers.processors import TemplateProcessing

    tokenizer = tiny.build_tokenizer()
    script = "def encode(row):\n    return {'y': tokenizer('the road', truncation=True)['input_ids']}\n"
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    if attribute == "tokens":
        tokenizer.add_tokens(["theroad"])
    elif attribute == "post_processor":
        name, number = tokenizer.eos_token, tokenizer.eos_token_id
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(f"$A {name}", None, [(name, number)])
    else:
        setattr(tokenizer, attribute, 1 if attribute == "model_max_length" else "{{ messages }}")
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    assert world.fired == []


def test_a_method_of_the_tokenizers_class_is_not_seen_by_datasets(world: World, monkeypatch: Any) -> None:
    import tiny

    tokenizer = tiny.build_tokenizer()
    script = "def encode(row):\n    return {'y': tokenizer.encode('the road')}\n"
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    monkeypatch.setattr(type(tokenizer), "encode", lambda self, text: [1, 2, 3])
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    assert looked(world).outcome == "different"
