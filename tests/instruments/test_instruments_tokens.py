"""The census of labels: what is counted, what is padding, what is kept, and what it says where it cannot count."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from chat_templates import ChatTokenizer

from affidavit.attach.instrument import Emit
from affidavit.attach.moment import Batch, Loaded, StepEnd
from affidavit.fact.observation import Cause, Known, Observation, Unknown
from affidavit.fact.values import Table, Tally
from affidavit.fact.vocabulary import load
from affidavit.instruments.tokens import ROWS_COUNTED, ROWS_KEPT, SupervisedTokens
from affidavit.instruments.tokens.rows import IGNORED

TALK = (("user", "What colour is the sea?"), ("assistant", "It is blue."))


@dataclass
class Census:
    """One instrument with its voice, fed by hand."""

    folder: Path
    tokenizer: ChatTokenizer | None = field(default_factory=lambda: ChatTokenizer("chatml"))
    policy: str = "text"
    said: list[Observation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instrument = SupervisedTokens()
        self.emit = Emit(
            vocabulary=load(),
            instrument=self.instrument.name,
            emits=self.instrument.emits,
            write=self.said.append,
            evidence_folder=self.folder / "evidence",
            tokens_folder=self.folder / "tokens",
            tokens_policy=self.policy,
        )
        if self.tokenizer is not None:
            self.instrument.loaded(Loaded(kind="tokenizer", item=self.tokenizer, source="test"), self.emit)

    def feed(self, *batches: dict[str, Any]) -> Census:
        for inputs in batches:
            self.instrument.batch(Batch(step=2, inputs=inputs), self.emit)
        self.instrument.report(StepEnd(step=2), self.emit)
        return self

    def known(self, term: str) -> Any:
        state = [seen.state for seen in self.said if seen.term == term][-1]
        assert isinstance(state, Known), state
        return state.value

    def cause(self, term: str) -> Cause:
        (state,) = [seen.state for seen in self.said if seen.term == term]
        assert isinstance(state, Unknown), state
        return state.cause

    def ids(self, talk: tuple[tuple[str, str], ...] = TALK) -> list[int]:
        assert self.tokenizer is not None
        text = self.tokenizer.render(talk)
        assert text is not None
        return self.tokenizer.encode(text)


def _batch(*rows: list[int], labels: list[list[int]] | None = None, pad: int = 0, mask: bool = True) -> dict[str, Any]:
    width = max(map(len, rows))
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    told = labels if labels is not None else [list(row) for row in rows]
    wanted = torch.tensor([row + [IGNORED] * (width - len(row)) for row in told])
    found: dict[str, Any] = {"input_ids": ids, "labels": wanted}
    if mask:
        found["attention_mask"] = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return found


def _dark(labels: list[int], *places: int) -> list[int]:
    return [IGNORED if place in places else label for place, label in enumerate(labels)]


def test_lit_and_dark_tokens_are_counted_by_role(tmp_path: Path) -> None:
    census = Census(tmp_path)
    ids = census.ids()
    answer = ids.index(census.tokenizer.encode("It ")[0])  # type: ignore[union-attr]
    census.feed(_batch(ids, labels=[_dark(ids, *range(answer))]))
    seen: Tally = census.known("tokens.seen_by_role")
    lit: Tally = census.known("tokens.supervised_by_role")
    assert seen["user"] == 9 and lit["user"] == 0 and seen["template"] == 11
    assert seen["assistant"] == lit["assistant"] == 5
    assert lit["template"] == 1, "the new line behind the answer"
    assert census.known("tokens.supervised_roles") == ("assistant", "template")
    assert census.known("tokens.labels") == "each token"


def test_a_contrast_the_same_rows_with_one_label_more(tmp_path: Path) -> None:
    counts = []
    for name, dark in (("masked", (0, 1, 2, 3)), ("lit", (0, 1, 2))):
        census = Census(tmp_path / name)
        ids = census.ids()
        counts.append(census.feed(_batch(ids, labels=[_dark(ids, *dark)])).known("tokens.supervised_by_role").total)
    assert counts[1] == counts[0] + 1


def test_turns_know_whether_their_end_is_lit(tmp_path: Path) -> None:
    ends = []
    for name, spare in (("whole", 0), ("without ends", 1)):
        census = Census(tmp_path / name)
        ids = census.ids()
        end = census.tokenizer.encode("<|im_end|>")[0]  # type: ignore[union-attr]
        labels = [IGNORED if token == end and spare else token for token in ids]
        table: Table = census.feed(_batch(ids, labels=[labels])).known("tokens.supervised_by_turn")
        ends.append([row["ends"] for row in table.records()])
        assert [row["role"] for row in table.records()] == ["user", "assistant"]
    assert ends == [[1, 1], [0, 0]]


def test_a_turn_that_was_cut_off_has_no_end_to_label(tmp_path: Path) -> None:
    census = Census(tmp_path)
    ids = census.ids()
    end = census.tokenizer.encode("<|im_end|>")[0]  # type: ignore[union-attr]
    cut = ids[: len(ids) - 1 - ids[::-1].index(end)]
    rows = census.feed(_batch(cut)).known("tokens.supervised_by_turn").records()
    assert [(row["role"], row["closed"], row["ends"]) for row in rows] == [("user", 1, 1), ("assistant", 0, 0)]


@pytest.mark.parametrize("mask", [True, False])
def test_padding_is_left_out(tmp_path: Path, mask: bool) -> None:
    census = Census(tmp_path)
    short, long = census.ids(), census.ids((*TALK, *TALK))
    census.feed(_batch(short, long, pad=0, mask=mask))
    assert census.known("tokens.seen_by_role").total == len(short) + len(long)
    assert census.known("tokens.rows_examined") == 2


@pytest.mark.parametrize("mask", [True, False])
def test_padding_that_also_ends_a_text_does_not_swallow_the_end(tmp_path: Path, mask: bool) -> None:
    """SmolLM2's own: pad is eos is the end of a turn."""
    tokenizer = ChatTokenizer("chatml")
    end = tokenizer.encode("<|im_end|>")[0]
    tokenizer.pad, tokenizer.ends = end, frozenset((end,))
    census = Census(tmp_path, tokenizer=tokenizer)
    short = census.ids()[:-1]  # ends with the end of the turn, as trainers that strip white space have it
    long = census.ids((*TALK, *TALK))
    census.feed(_batch(short, long, pad=end, mask=mask, labels=[_dark(short, len(short) - 1), list(long)]))
    assert census.known("tokens.seen_by_role").total == len(short) + len(long)
    table = census.known("tokens.supervised_by_turn").records()
    assert [row["turns"] for row in table[:2]] == [2, 2]
    assert [row["ends"] for row in table[:2]] == [2, 1], "the end that carries no label is seen, and not lit"


def test_padding_on_the_left_is_left_out_by_the_mask(tmp_path: Path) -> None:
    census = Census(tmp_path)
    ids = census.ids()
    inputs = {
        "input_ids": torch.tensor([[0, 0, *ids]]),
        "labels": torch.tensor([[IGNORED, IGNORED, *ids]]),
        "attention_mask": torch.tensor([[0, 0, *([1] * len(ids))]]),
    }
    assert census.feed(inputs).known("tokens.seen_by_role").total == len(ids)


def test_many_rows_cost_no_more_than_some(tmp_path: Path) -> None:
    census = Census(tmp_path)
    ids = census.ids()
    census.feed(*[_batch(*[ids] * 64)] * 8)
    assert census.known("tokens.rows_examined") == ROWS_COUNTED < 512
    (kept,) = (tmp_path / "tokens").iterdir()
    assert len(kept.read_text().splitlines()) == 1 + ROWS_KEPT


@pytest.mark.parametrize(("policy", "keeps"), [("off", set()), ("ids", {"ids"}), ("text", {"ids", "text"})])
def test_the_policy_says_how_much_of_the_data_is_kept(tmp_path: Path, policy: str, keeps: set[str]) -> None:
    census = Census(tmp_path, policy=policy)
    census.feed(_batch(census.ids()))
    (kept,) = (tmp_path / "tokens").iterdir()
    rows = [json.loads(line) for line in kept.read_text().splitlines()[1:]]
    spans = [span for row in rows for span in row["spans"]]
    assert {key for span in spans for key in span} == {"role", "turn", "lit", "tokens"} | keeps
    assert ("blue" in kept.read_text()) == (policy == "text")
    assert not (tmp_path / "evidence").exists()


def test_spans_put_together_are_the_row(tmp_path: Path) -> None:
    census = Census(tmp_path)
    ids = census.ids((("user", "¿Qué? 🗼"), ("assistant", "東京")))
    census.feed(_batch(ids))
    (kept,) = (tmp_path / "tokens").iterdir()
    row = json.loads(kept.read_text().splitlines()[1])
    assert [number for span in row["spans"] for number in span["ids"]] == ids
    assert "".join(span["text"] for span in row["spans"]) == census.tokenizer.text(ids)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        ({"input_ids": torch.ones(2, 4, dtype=torch.long), "labels": torch.ones(2, dtype=torch.long)}, "each row"),
        ({"input_ids": torch.ones(2, 4, dtype=torch.long), "labels": torch.ones(2, 4)}, "each row"),
        ({"pixel_values": torch.ones(2, 3, 4, 4), "labels": torch.ones(2, dtype=torch.long)}, "no text"),
    ],
)
def test_labels_of_rows_are_no_labels_of_tokens(tmp_path: Path, inputs: dict[str, Any], labels: str) -> None:
    census = Census(tmp_path).feed(inputs)
    assert census.known("tokens.labels") == labels
    assert census.cause("tokens.supervised_roles") is Cause.NO_OPERATION


def test_labels_that_never_enter_the_model_are_unknown(tmp_path: Path) -> None:
    census = Census(tmp_path)
    census.feed({"input_ids": torch.tensor([census.ids()])})
    assert census.cause("tokens.supervised_by_role") is Cause.NO_OPERATION


def test_without_a_tokenizer_it_says_so(tmp_path: Path) -> None:
    ids = torch.ones(2, 4, dtype=torch.long)
    census = Census(tmp_path, tokenizer=None).feed({"input_ids": ids, "labels": ids})
    assert census.cause("tokens.supervised_by_role") is Cause.NO_TOKENIZER
    assert census.known("tokens.labels") == "each token"


def test_nothing_is_held_after_it_let_go(tmp_path: Path) -> None:
    census = Census(tmp_path)
    census.feed(_batch(census.ids()))
    census.instrument.release()
    assert census.tokenizer not in vars(census.instrument).values()
