"""A tokenizer as instruments see it: each token with its own space, and templates that refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from affidavit.adapters.transformers.tokenizers import _Tokenizer, offer_tokenizer

LINES = ["What colour is the sea?", "### Instruction: name it", "It is blue and blue again", "日本 🗼"]
SPECIAL = ["<pad>", "</s>", "<|im_start|>", "<|im_end|>"]


@dataclass
class Wrapped:
    """As much of a transformers tokenizer as is asked for."""

    core: Tokenizer
    eos_token_id: int | list[int] | None = 1
    pad_token_id: int | None = 0
    chat_template: str | None = None

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str:
        assert not skip_special_tokens and not clean_up_tokenization_spaces
        return self.core.decode(list(ids), skip_special_tokens=False)

    def apply_chat_template(self, talk: list[dict[str, str]], *, tokenize: bool) -> str:
        if any(message["role"] == "system" for message in talk):
            raise ValueError("this template knows no system")
        return "".join(message["content"] for message in talk)


def _byte_level() -> Tokenizer:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(LINES, trainer)
    return core


def _marked_words() -> Tokenizer:
    """As SentencePiece does it: the space is part of a word's mark, and decoding strips the first one."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    core.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=SPECIAL, show_progress=False)
    core.train_from_iterator(LINES, trainer)
    return core


@pytest.mark.parametrize("build", [_byte_level, _marked_words])
@pytest.mark.parametrize("line", LINES[:3])
def test_pieces_put_together_are_the_text(build: Any, line: str) -> None:
    core = build()
    offered = _Tokenizer(Wrapped(core))
    ids = core.encode(f"<|im_start|>{line}<|im_end|>").ids
    whole = offered.text(ids)
    assert "".join(offered.pieces(ids)) == whole
    assert line.split()[-1] in whole and whole.count(" ") >= line.count(" ")


def test_parts_of_a_letter_keep_a_piece_each() -> None:
    core = _byte_level()
    ids = core.encode("🗼🌊").ids
    pieces = _Tokenizer(Wrapped(core)).pieces(ids)
    assert len(pieces) == len(ids)
    assert all(pieces)


@pytest.mark.parametrize(("eos", "ends"), [(1, {1}), ([1, 3], {1, 3}), (None, set())])
def test_ends(eos: int | list[int] | None, ends: set[int]) -> None:
    offered = _Tokenizer(Wrapped(_byte_level(), eos_token_id=eos))
    assert offered.ends == ends
    assert offered.pieces([5, 6]) != []


def test_a_template_that_refuses_or_is_missing_renders_nothing() -> None:
    core = _byte_level()
    assert _Tokenizer(Wrapped(core)).render([("user", "a")]) is None
    written = _Tokenizer(Wrapped(core, chat_template="there is one"))
    assert written.render([("user", "a"), ("assistant", "b")]) == "ab"
    assert written.render([("system", "a")]) is None


def test_a_processor_offers_the_tokenizer_that_it_holds() -> None:
    @dataclass
    class Processor:
        tokenizer: Wrapped

    assert offer_tokenizer(Processor(Wrapped(_byte_level()))) is not None
    assert offer_tokenizer(object()) is None
