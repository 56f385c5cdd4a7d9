"""How rows begin and end: which end is lit, what was cut off, what is doubled, and where nothing can be said."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from chat_templates import NO_END, TEMPLATES, ChatTokenizer
from spoken import Voice

from affidavit.attach.moment import Batch, Loaded, Prepared, StepEnd
from affidavit.instruments.tokens import SupervisedTokens
from affidavit.instruments.tokens.prompt import Prompt
from affidavit.instruments.tokens.rows import IGNORED
from affidavit.instruments.tokens.turns import markers, runs

TALK = (("user", "What colour is the sea?"), ("assistant", "It is blue."))
LONG = (*TALK, ("user", "Are you sure?"), ("assistant", "Yes: blue."))
BOS, EOS = 7, 1


class Plain:
    """A tokenizer without a template, whose ids are their own text."""

    pad: int | None = 0
    begin: int | None = BOS
    ends = frozenset((EOS,))

    def render(self, messages: Any, *, asks: bool = False) -> str | None:
        return None

    def pieces(self, ids: Any) -> list[str]:
        return [f"<{number}>" for number in ids]

    def text(self, ids: Any) -> str:
        return "".join(self.pieces(ids))


def _told(tokenizer: Any, *batches: dict[str, Any], regrouped: bool = False) -> Voice:
    instrument = SupervisedTokens()
    voice = Voice(instrument)
    instrument.loaded(Loaded(kind="tokenizer", item=tokenizer, source="test"), voice.emit)
    instrument.prepared(Prepared(columns={}, filters=(), regrouped=regrouped, source="test"), voice.emit)
    for inputs in batches:
        instrument.batch(Batch(step=2, inputs=inputs), voice.emit)
    instrument.report(StepEnd(step=2), voice.emit)
    return voice


def _batch(*rows: list[int], labels: list[list[int]] | None = None, masked: bool = True) -> dict[str, Any]:
    longest = max(map(len, rows))
    inputs = {
        "input_ids": torch.tensor([row + [0] * (longest - len(row)) for row in rows]),
        "labels": torch.tensor([row + [IGNORED] * (longest - len(row)) for row in labels or rows]),
    }
    if masked:
        inputs["attention_mask"] = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return inputs


def _dark(row: list[int], *places: int) -> list[int]:
    return [IGNORED if at in {place % len(row) for place in places} else token for at, token in enumerate(row)]


def _chat(tokenizer: ChatTokenizer, talk: tuple[tuple[str, str], ...] = LONG) -> list[int]:
    written = tokenizer.render(talk)
    assert written is not None
    return tokenizer.encode(written)


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_every_template_ends_its_answers(template: str) -> None:
    tokenizer = ChatTokenizer(template)
    voice = _told(tokenizer, _batch(_chat(tokenizer)))
    assert voice.counts("tokens.terminators") == {"lit": 2, "dark": 0, "cut off": 0, "never written": 0}
    assert voice.counts("tokens.answers") == {"lit": 2, "dark": 0}
    assert voice.counts("tokens.rows_by_end") == {"whole": 1, "cut off": 0, "without an answer": 0}
    assert voice.known("tokens.form") == "chat"


def test_an_end_without_a_label_is_dark() -> None:
    tokenizer = ChatTokenizer("chatml")
    row = _chat(tokenizer)
    end = tokenizer.encode("<|im_end|>")[0]
    ends = [at for at, token in enumerate(row) if token == end]
    voice = _told(tokenizer, _batch(row, labels=[_dark(row, *ends)]))
    assert voice.counts("tokens.terminators") == {"lit": 0, "dark": 2, "cut off": 0, "never written": 0}


def test_a_template_that_forgets_the_end_is_told_from_a_row_that_was_cut_off() -> None:
    tokenizer = ChatTokenizer("chatml")
    row = _chat(tokenizer)
    end = tokenizer.encode("<|im_end|>")[0]
    first = row.index(end, row.index(end) + 1)  # the first answer's
    unwritten = [token for at, token in enumerate(row) if at != first]
    cut = row[: len(row) - 1 - row[::-1].index(end)]
    assert _told(tokenizer, _batch(unwritten)).counts("tokens.terminators")["never written"] == 1
    voice = _told(tokenizer, _batch(cut))
    assert voice.counts("tokens.terminators") == {"lit": 1, "dark": 0, "cut off": 1, "never written": 0}
    assert voice.counts("tokens.rows_by_end") == {"whole": 0, "cut off": 1, "without an answer": 0}


def test_a_row_cut_off_before_its_answer() -> None:
    tokenizer = ChatTokenizer("chatml")
    row = _chat(tokenizer, TALK)
    end = tokenizer.encode("<|im_end|>")[0]
    voice = _told(tokenizer, _batch(row[: row.index(end) - 1], row[: row.index(end) + 3]))
    assert voice.counts("tokens.rows_by_end") == {"whole": 0, "cut off": 1, "without an answer": 1}
    assert voice.counts("tokens.answers") == {"lit": 0, "dark": 0}


def test_an_answer_that_is_not_taught_has_no_end_to_teach() -> None:
    tokenizer = ChatTokenizer("chatml")
    row = _chat(tokenizer)
    first = len(_chat(tokenizer, TALK))
    voice = _told(tokenizer, _batch(row, labels=[_dark(row, *range(first))]))
    assert voice.counts("tokens.answers") == {"lit": 1, "dark": 1}
    assert voice.counts("tokens.terminators") == {"lit": 1, "dark": 0, "cut off": 0, "never written": 0}


def test_rows_put_together_of_others_are_cut_anywhere_unless_positions_part_them() -> None:
    tokenizer = ChatTokenizer("chatml")
    whole, cut = _chat(tokenizer, TALK), _chat(tokenizer, TALK)[:-4]
    packed = _batch(whole + cut)
    assert sum(_told(tokenizer, packed, regrouped=True).counts("tokens.rows_by_end").values()) == 0
    packed["position_ids"] = torch.tensor([[*range(len(whole)), *range(len(cut))]])
    del packed["attention_mask"]
    voice = _told(tokenizer, packed, regrouped=True)
    assert voice.counts("tokens.rows_by_end") == {"whole": 1, "cut off": 1, "without an answer": 0}
    assert voice.counts("tokens.rows_by_label") == {"lit": 2, "dark": 0}


@pytest.mark.parametrize(("masked", "dark"), [(True, 1), (False, 0)])
def test_padding_that_ends_a_text_is_its_end_only_under_a_mask(masked: bool, dark: int) -> None:
    tokenizer = Plain()
    tokenizer.pad = EOS
    rows = [[2, 3, 4, EOS], [2, 3, 4, 5, 6]]
    inputs = _batch(*rows, labels=[_dark(rows[0], -1), rows[1]], masked=masked)
    inputs["input_ids"][0, -1] = EOS
    voice = _told(tokenizer, inputs)
    assert voice.counts("tokens.terminators") == {"lit": 0, "dark": dark, "cut off": 0, "never written": 0}


def test_a_text_behind_a_prompt_ends_where_others_do() -> None:
    ended, cut = [2, 3, 4, EOS], [2, 3, 4, 5, 6]
    both = _told(Plain(), _batch(ended, cut, labels=[_dark(ended, 0), _dark(cut, 0)]))
    assert both.counts("tokens.rows_by_end") == {"whole": 1, "cut off": 1, "without an answer": 0}
    endless = _told(Plain(), _batch(cut, labels=[_dark(cut, 0)]))
    assert sum(endless.counts("tokens.rows_by_end").values()) == 0, "a text without an end may be one on purpose"


@pytest.mark.parametrize("masked", [True, False])
def test_a_text_that_is_taught_to_go_on_with_padding_has_no_end(masked: bool) -> None:
    voice = _told(Plain(), _batch([2, 3, 4, 0], [2, 3, 4, 5, 0], masked=masked))
    assert voice.counts("tokens.terminators") == {"lit": 0, "dark": 0, "cut off": 0, "never written": 2}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ([BOS, 2, 3, EOS], "neither"),
        ([BOS, BOS, 2, 3, EOS], "begin"),
        ([BOS, 2, 3, EOS, EOS], "end"),
        ([BOS, 2, 3, 3], "neither"),
        ([2, 3], "neither"),
    ],
)
def test_a_row_that_begins_or_ends_twice(row: list[int], kind: str) -> None:
    assert _told(Plain(), _batch(row)).counts("tokens.doubled") == {"begin": 0, "end": 0, "neither": 0} | {kind: 1}


def test_one_token_for_both_is_no_doubled_begin() -> None:
    tokenizer = Plain()
    tokenizer.begin = EOS
    assert _told(tokenizer, _batch([EOS, EOS, 2, 3])).counts("tokens.doubled")["begin"] == 0


def test_rows_without_a_label_are_counted_and_those_of_a_masked_model_are_not() -> None:
    row = [2, 3, 4, EOS]
    voice = _told(Plain(), _batch(row, row, labels=[row, [IGNORED] * 4]))
    assert voice.counts("tokens.rows_by_label") == {"lit": 1, "dark": 1}
    masked = _told(Plain(), _batch(row, row, labels=[[9, *[IGNORED] * 3], [IGNORED] * 4]))
    assert masked.counts("tokens.rows_by_label") == {"lit": 0, "dark": 0}


def test_labels_that_never_enter_leave_only_what_ids_say() -> None:
    voice = _told(Plain(), {"input_ids": torch.tensor([[BOS, BOS, 2, 3]])})
    assert voice.counts("tokens.doubled")["begin"] == 1
    assert sum(voice.counts("tokens.terminators").values()) == 0 and voice.known("tokens.form") == "text"


@pytest.mark.parametrize(
    ("inputs", "tokenizer", "form"),
    [
        ({"pixel_values": torch.ones(2, 3, 4, 4)}, Plain(), "no text"),
        ({"input_ids": torch.ones(2, 4, dtype=torch.long)}, None, "ids"),
        ({"batch": {"input_ids": torch.ones(2, 4, dtype=torch.long)}}, Plain(), "text"),
    ],
)
def test_what_cannot_be_read_is_said(inputs: dict[str, Any], tokenizer: Any, form: str) -> None:
    voice = _told(tokenizer, inputs)
    assert voice.known("tokens.form") == form and voice.known("tokens.prompt") in ("no template", "no turns")


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_no_template_contradicts_itself(template: str) -> None:
    tokenizer = ChatTokenizer(template)
    prompt = Prompt.of(tokenizer, markers(tokenizer))
    assert prompt is not None
    pieces = tokenizer.split(tokenizer.render(LONG) or "")
    prompt.hold(pieces, runs(pieces, markers(tokenizer)))
    asks = "add_generation_prompt" in TEMPLATES[template]
    assert prompt.told()[0] == ("prefix" if asks else "no prompt")


def test_a_prompt_that_no_row_continues_differs_at_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        TEMPLATES, "thinking", TEMPLATES["chatml"].replace("assistant\n' }}", "assistant\n<think>\n' }}")
    )
    tokenizer = ChatTokenizer("thinking")
    voice = _told(tokenizer, _batch(_chat(tokenizer)))
    assert voice.known("tokens.prompt") == "differs"
    text = tokenizer.render(TALK) or ""
    token = len(tokenizer.split(text[: text.index("It is blue")]))
    assert f"at token {token} the prompt goes on '<think>" in voice.source("tokens.prompt")


@pytest.mark.parametrize("blank", [" ", "\n"])
def test_rows_of_another_hand_differ(blank: str) -> None:
    """The template opens an answer with a new line; these rows have a blank more."""
    tokenizer = ChatTokenizer("chatml")
    row = tokenizer.encode((tokenizer.render(TALK) or "").replace("assistant\n", f"assistant{blank}\n\n"))
    assert _told(tokenizer, _batch(row)).known("tokens.prompt") == ("differs" if blank == " " else "prefix")


def test_a_prompt_of_which_no_row_shows_an_answer_is_held_against_its_own_template() -> None:
    tokenizer = ChatTokenizer("chatml")
    row = _chat(tokenizer, TALK[:1])
    assert _told(tokenizer, _batch(row)).known("tokens.prompt") == "prefix"


def test_templates_that_end_no_turn_of_a_user_are_among_those() -> None:
    assert set(NO_END["user"]) <= set(TEMPLATES)
