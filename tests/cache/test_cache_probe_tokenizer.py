"""Each part of a tokenizer is moved in a copy of it; the one that the user has stays what it is."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.cache.encoding.masks import Impersonation, Role
from affidavit.cache.probe import probe
from affidavit.cache.probe.probed import COVERED, FAULT, UNPROVEN, Probe

TEMPLATE = "{% for turn in messages %}<{{ turn.role }}>{{ turn.content }}{% endfor %}"
ROWS = [{"messages": [{"role": "user", "content": "Red and Blue"}, {"role": "assistant", "content": "Green"}]}]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = ["<unk>", "<pad>", "<s>", "Red", "Blue", "Green", "red", "blue", "green", "and", "user", "assistant", "x"]
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, "<unk>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", chat_template=TEMPLATE, model_max_length=32
    )


def _encode(row: dict[str, Any], tokenizer: Any) -> list[int]:
    text = tokenizer.apply_chat_template(row["messages"], tokenize=False)
    found: list[int] = tokenizer(text, padding="max_length", truncation=True, max_length=12)["input_ids"]
    return found


def _vocabulary(tokenizer: Any) -> str:
    return repr(sorted(tokenizer.get_vocab().items()))


def _plain(row: dict[str, Any], tokenizer: Any) -> dict[str, Any]:
    return {"input_ids": tokenizer.apply_chat_template(row["messages"], return_dict=True)["input_ids"]}


def _verdicts(found: Probe) -> dict[str, str]:
    return {one.name.removeprefix("tokenizer."): one.verdict for one in found.found}


def test_a_key_of_the_vocabulary_misses_template_and_side(tokenizer: Any) -> None:
    before = (tokenizer.padding_side, tokenizer.chat_template, len(tokenizer), tokenizer.backend_tokenizer.to_str())
    found = _verdicts(probe(_encode, rows=ROWS, tokenizer=tokenizer, key=_vocabulary))
    assert {found["chat_template"], found["padding_side"], found["backend.normalizer"]} == {FAULT}
    after = (tokenizer.padding_side, tokenizer.chat_template, len(tokenizer), tokenizer.backend_tokenizer.to_str())
    assert after == before


def test_our_own_key_covers_each_part_that_moves_the_output(tokenizer: Any) -> None:
    found = _verdicts(probe(_encode, rows=ROWS, tokenizer=tokenizer))
    assert {found["chat_template"], found["padding_side"], found["backend.normalizer"]} == {COVERED}
    assert FAULT not in found.values()


CHATS = [*ROWS, {"messages": [{"role": "user", "content": "Red"}, {"role": "assistant", "content": "User: Green"}]}]


def test_a_mask_policy_is_an_input_like_any_other(tokenizer: Any) -> None:
    masks = (Impersonation(names=("User",)), Role())
    theirs = probe(_plain, rows=CHATS, tokenizer=tokenizer, masks=masks, key=_vocabulary)
    ours = probe(_plain, rows=CHATS, tokenizer=tokenizer, masks=masks)
    said = {"mask impersonation.names", "mask impersonation.roles", "mask role.train"}
    assert said <= {str(one) for one in theirs.of(FAULT)}
    assert said <= {str(one) for one in ours.of(COVERED)}


def test_without_a_turn_that_it_masks_a_policy_is_not_proven(tokenizer: Any) -> None:
    found = probe(_plain, rows=ROWS, tokenizer=tokenizer, masks=(Impersonation(names=("User",)),), key=_vocabulary)
    names = next(one for one in found.found if one.name == "impersonation.names")
    assert (names.verdict, names.kind) == (UNPROVEN, "mask")
