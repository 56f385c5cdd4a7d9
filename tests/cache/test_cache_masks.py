"""A policy masks what it says it masks, token for token; its content is in the key, its coverage in the entry."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from affidavit.attach.moment import CacheHit
from affidavit.cache.encoding import tell
from affidavit.cache.encoding.chat import Chats, ChatShapeError
from affidavit.cache.encoding.encode import encode
from affidavit.cache.encoding.masks import (
    IGNORED,
    Between,
    Custom,
    Impersonation,
    Masker,
    Policy,
    Regex,
    Role,
    Turns,
    parts_of,
)
from affidavit.cache.store import Store

datasets = pytest.importorskip("datasets")
pytest.importorskip("transformers")

SCRIPTS = Path(__file__).parents[2] / "src/affidavit/demo/scripts"
CHAT = [
    {"role": "system", "content": "user"},
    {"role": "user", "content": "What colour is the sea?"},
    {"role": "assistant", "content": "<think>The sea</think> The sea is blue."},
    {"role": "user", "content": "Are you sure?"},
    {"role": "assistant", "content": "Yes.\nUser: and the hill?\nThe hill is green."},
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    sys.path.insert(0, str(SCRIPTS))
    try:
        import tiny
    finally:
        sys.path.remove(str(SCRIPTS))
    return tiny.build_tokenizer()


@pytest.fixture
def lit(tokenizer: Any) -> Callable[..., str]:
    """Return what is learned of a chat under some policies, as text."""

    def under(*masks: Policy, chat: Sequence[Mapping[str, Any]] = CHAT, labels: Any = None) -> str:
        ids = tokenizer.apply_chat_template(chat, return_dict=False)
        (made,) = Masker(masks, tokenizer).labels([chat], [ids], labels, row=0)
        assert len(made) == len(ids)
        assert all(label in (IGNORED, token) for label, token in zip(made, ids))
        return str(tokenizer.decode([label for label in made if label != IGNORED]))

    return under


FIRST, SECOND = CHAT[2]["content"], CHAT[4]["content"]


def test_a_role_is_its_words_and_the_token_that_ends_them(lit: Callable[..., str]) -> None:
    assert lit(Role()) == f"{FIRST}<turn|>{SECOND}<turn|>"
    assert lit(Role(train=("user",))) == "What colour is the sea?<turn|>Are you sure?<turn|>"
    assert lit(Role(train=("system",))) == "user<turn|>", "not the template's own word"
    assert lit(Role(train=())) == ""


def test_turns_are_counted_from_both_ends(lit: Callable[..., str]) -> None:
    assert lit(Role(), Turns(last=1)) == f"{SECOND}<turn|>"
    assert lit(Role(), Turns(first=1)) == f"{FIRST}<turn|>"
    assert lit(Role(), Turns(first=1, last=1)) == lit(Role())


def test_between_two_marks(lit: Callable[..., str]) -> None:
    assert lit(Role(), Between("<think>", "</think>")) == f" The sea is blue.<turn|>{SECOND}<turn|>"
    to_the_end = lit(Role(), Between("is blue", "never"))
    assert to_the_end == f"<think>The sea</think> The sea<turn|>{SECOND}<turn|>", "a token that reaches in is masked"


def test_a_pattern_masks_what_it_matches(lit: Callable[..., str]) -> None:
    made = lit(Role(), Regex("THE SEA", re.IGNORECASE))
    assert made == f"<think></think>  is blue.<turn|>{SECOND}<turn|>"


def test_a_turn_with_the_user_s_lines_is_not_learned_from(lit: Callable[..., str]) -> None:
    assert lit(Role(), Impersonation()) == f"{FIRST}<turn|>"
    assert lit(Role(), Impersonation(names=("Nobody",))) == lit(Role())
    for line in ("user : hm", "  **Human**: hm", "> HUMAN:hm"):
        chat = [*CHAT[:2], {"role": "assistant", "content": f"Blue.\n{line}"}]
        assert lit(Role(), Impersonation(), chat=chat) == "", line
    quoted = [*CHAT[:2], {"role": "assistant", "content": "The user: a person. Users: many."}]
    assert lit(Role(), Impersonation(), chat=quoted) == lit(Role(), chat=quoted)


def shouting(messages: Sequence[Mapping[str, Any]]) -> Iterable[tuple[int, int, int]]:
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            yield number, 0, len(message["content"]) // 2


def test_a_function_of_your_own(lit: Callable[..., str]) -> None:
    made = lit(Role(), Custom(shouting))
    assert made.endswith("The hill is green.<turn|>")
    assert FIRST not in made


def test_labels_that_are_there_stay_masked(lit: Callable[..., str], tokenizer: Any) -> None:
    ids = tokenizer.apply_chat_template(CHAT, return_dict=False)
    labels = [[IGNORED] * (len(ids) - 3) + ids[-3:]]
    assert lit(Role(), labels=labels) == tokenizer.decode(ids[-3:-1])


@pytest.mark.parametrize("cut", [slice(0, 30), slice(-30, None)])
def test_a_row_that_was_cut_is_masked_where_it_is(tokenizer: Any, cut: slice) -> None:
    ids = tokenizer.apply_chat_template(CHAT, return_dict=False)
    (whole,) = Masker([Role()], tokenizer).labels([CHAT], [ids], None, row=0)
    (made,) = Masker([Role()], tokenizer).labels([CHAT], [ids[cut]], None, row=0)
    assert made == whole[cut]


def test_padding_behind_a_row_is_masked(tokenizer: Any) -> None:
    ids = tokenizer.apply_chat_template(CHAT, return_dict=False)
    (whole,) = Masker([Role()], tokenizer).labels([CHAT], [ids], None, row=0)
    (made,) = Masker([Role()], tokenizer).labels([CHAT], [[*ids, 0, 0]], None, row=0)
    assert made == [*whole, IGNORED, IGNORED]


def test_tokens_that_are_not_the_template_s_are_refused(tokenizer: Any) -> None:
    with pytest.raises(ChatShapeError, match=r"row 7: expected the tokens of the chat template \(masks\)"):
        Masker([Role()], tokenizer).labels([CHAT], [[5, 5, 5]], None, row=7)


def test_a_template_that_rewrites_its_contents_is_refused(tokenizer: Any) -> None:
    import copy

    upper = copy.deepcopy(tokenizer)
    upper.chat_template = "{% for message in messages %}{{ message['content'] | upper }}{% endfor %}"
    with pytest.raises(ChatShapeError, match="row 3: expected a text in which each message stands as it was given"):
        Chats(upper).read(CHAT, row=3)
    trimmed = copy.deepcopy(tokenizer)
    trimmed.chat_template = "{% for message in messages %}[{{ message['content'] | trim }}]{% endfor %}"
    chat = Chats(trimmed).read([{"role": "user", "content": "  a b "}], row=0)
    assert [chat.text[slice(*turn.span(2, 3))] for turn in chat.turns] == ["a"]


POLICIES: tuple[Policy, ...] = (
    Role(),
    Role(train=("user",)),
    Turns(last=1),
    Turns(last=2),
    Between("a", "b"),
    Between("a", "c"),
    Regex("a"),
    Regex("a", re.IGNORECASE),
    Regex("a", roles=("user",)),
    Impersonation(),
    Impersonation(names=("User",)),
    Custom(shouting),
    Custom(lambda messages: [(0, 0, 1)]),
)


def test_every_field_of_a_policy_is_in_the_key() -> None:
    digests = {parts_of([policy])[0].digest for policy in POLICIES}
    assert len(digests) == len(POLICIES)


def test_the_order_of_policies_is_not() -> None:
    assert parts_of(POLICIES) == parts_of(tuple(reversed(POLICIES)))
    assert {part.kind for part in parts_of(POLICIES)} == {"mask"}
    assert parts_of([Impersonation(names=("User", "Human"))]) == parts_of([Impersonation(names=("human", "USER"))])


@pytest.fixture
def chats() -> Any:
    plain = [*CHAT[:4], {"role": "assistant", "content": "Yes."}]
    return datasets.Dataset.from_list([{"messages": CHAT if row == 7 else plain} for row in range(20)])


def test_run_two_asks_for_a_mask_and_gets_it(
    chats: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seed's case: the same rows, the same function, a mask that was not there before."""
    hits: list[CacheHit] = []
    monkeypatch.setattr(tell, "fire", hits.append)

    def ids(batch: dict[str, Any]) -> dict[str, Any]:
        return {"input_ids": tokenizer.apply_chat_template(batch["messages"], return_dict=False)}

    def under(*masks: Policy) -> Any:
        return encode(
            chats, ids, tokenizer=tokenizer, masks=masks, store=tmp_path, batch_size=5, remove_columns="messages"
        )

    def supervised(made: Any) -> list[int]:
        return [sum(label != IGNORED for label in row) for row in made["labels"]]

    unmasked, masked, again = under(Role()), under(Role(), Impersonation()), under(Role())
    lost = [one - other for one, other in zip(supervised(unmasked), supervised(masked))]
    assert [row for row, tokens in enumerate(lost) if tokens] == [7]
    assert again[:] == unmasked[:]
    (hit,) = hits
    assert not [name for name in hit.built["parts"] if "impersonation" in name], "what it was built with"
    assert hit.built["facts"]["supervised"] == sum(supervised(unmasked))
    first, second = Store(tmp_path).entries()
    assert first.preimage.of_kind("mask") != second.preimage.of_kind("mask")
    assert "impersonation" not in first.facts["masks"]
    fact = second.facts["masks"]["impersonation"]
    assert (fact["rows"], fact["first"], fact["tokens"]) == (1, [7], lost[7])
    assert fact["digest"] == parts_of([Impersonation()])[0].digest
    assert first.facts["supervised"] - second.facts["supervised"] == lost[7]
    assert first.facts["tokens"] == second.facts["tokens"] == sum(map(len, unmasked["input_ids"]))


def test_a_mask_that_was_left_out_of_the_key_is_stale_and_the_entry_says_with_what_it_was_built(
    chats: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that somebody crippled: run 2 is served run 1's rows, and whoever holds them against today's sees it."""
    hits: list[CacheHit] = []
    monkeypatch.setattr(tell, "fire", hits.append)

    def ids(batch: dict[str, Any]) -> dict[str, Any]:
        return {"input_ids": tokenizer.apply_chat_template(batch["messages"], return_dict=False)}

    for names in (("Nobody",), ("User",)):
        encode(
            chats,
            ids,
            tokenizer=tokenizer,
            masks=[Role(), Impersonation(names)],
            store=tmp_path,
            batch_size=5,
            remove_columns="messages",
            irrelevant={"mask impersonation": "crippled on purpose"},
        )
    (hit,) = hits
    batch = list(hit.batch(7))
    assert [row for row, *two in zip(batch, hit.stored(batch), hit.recompute(batch)) if two[0] != two[1]] == [7]
    assert hit.built["facts"]["masks"]["impersonation"]["tokens"] == 0
    assert hit.built["parts"]["irrelevant mask impersonation"][1] == "crippled on purpose"
