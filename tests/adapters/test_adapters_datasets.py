"""What a trainer made of a dataset is told from what the script did, and the dataset is the same for all of it."""

from __future__ import annotations

import gc
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import datasets as library
import pytest

from affidavit.adapters.datasets import prepared as datasets
from affidavit.attach.moment import Prepared, TrainBegin
from affidavit.attach.session import Session

ROWS = [{"text": f"row {number}", "loss_mask": [1], "size": number} for number in range(8)]


@dataclass
class Heard:
    """A session that keeps what is fired, and lets errors through."""

    fired: list[Any] = field(default_factory=list)

    def shielded(self, call: Callable[..., None]) -> Callable[..., None]:
        return call

    def fire(self, moment: Any) -> None:
        self.fired.append(moment)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    session = Heard()
    for name in datasets.CALLS:
        if name in library.Dataset.__dict__:
            monkeypatch.setattr(library.Dataset, name, library.Dataset.__dict__[name])
    datasets.bind(cast(types.ModuleType, library.arrow_dataset), cast(Session, session))
    yield session
    datasets._kinds.clear()


@pytest.fixture
def trainer() -> types.ModuleType:
    """A module of trl's that prepares: what it calls is the trainer's."""
    module = types.ModuleType("trl.preparing")
    source = (
        "def prepare(dataset):\n"
        "    dataset = dataset.map(lambda row: {'input_ids': [row['size']], 'seq_lengths': [1]})\n"
        "    dataset = dataset.filter(lambda row: row['size'] > 2, desc='Dropping small ones')\n"
        "    return dataset.remove_columns(['loss_mask', 'text'])\n"
        "def pack(dataset):\n"
        "    return dataset.map(lambda batch: {'input_ids': [[1, 2]]}, batched=True, remove_columns=list(ROWS[0]))\n"
    )
    module.__dict__["ROWS"] = ROWS
    exec(source, module.__dict__)
    return module


def _prepared(session: Heard, dataset: Any, **loader: Any) -> Prepared:
    moment = TrainBegin(driver="test", model=None, loader=types.SimpleNamespace(dataset=dataset, **loader))
    datasets.describe(moment, cast(Session, session))
    (found,) = session.fired
    return cast(Prepared, found)


def test_rows_and_columns_that_a_trainer_left_out(heard: Heard, trainer: Any) -> None:
    own = library.Dataset.from_list(ROWS).filter(lambda row: row["size"] != 7)
    told = _prepared(heard, trainer.prepare(own))
    assert told.filters == (("trl", "Dropping small ones", 7, 4),)
    assert told.columns == {"text": "left out", "loss_mask": "left out", "size": "kept"}
    assert not told.regrouped


def test_what_the_script_left_out_is_its_own(heard: Heard) -> None:
    own = library.Dataset.from_list(ROWS).filter(lambda row: row["size"] > 2).remove_columns(["loss_mask"])
    told = _prepared(heard, own.train_test_split(test_size=2)["train"])
    assert told.filters == () and told.columns == {"text": "kept", "size": "kept"}


def test_rows_that_were_put_together_are_told_and_columns_read_by_it(heard: Heard, trainer: Any) -> None:
    told = _prepared(heard, trainer.pack(library.Dataset.from_list(ROWS)))
    assert told.regrouped and set(told.columns.values()) == {"read"}


def test_a_collator_that_removes_columns_is_asked(heard: Heard) -> None:
    collate = types.SimpleNamespace(signature_columns=["input_ids", "labels"])
    told = _prepared(heard, [{"input_ids": [1], "weight": 1.0}], collate_fn=collate)
    assert told.columns == {"input_ids": "kept", "weight": "left out"}


@pytest.mark.parametrize(
    "dataset", [None, [], ["text"], object(), library.Dataset.from_list(ROWS).to_iterable_dataset()]
)
def test_what_has_no_columns_by_name_is_not_described(heard: Heard, dataset: Any) -> None:
    moment = TrainBegin(driver="test", model=None, loader=types.SimpleNamespace(dataset=dataset))
    datasets.describe(moment, cast(Session, heard))
    assert heard.fired == []


def test_a_dataset_is_the_same_and_is_not_kept_alive(heard: Heard) -> None:
    with pytest.MonkeyPatch.context() as bare:
        for name in datasets.CALLS:
            if name in library.Dataset.__dict__:
                bare.setattr(library.Dataset, name, library.Dataset.__dict__[name].__wrapped__)
        expected = library.Dataset.from_list(ROWS).filter(_is_large).shuffle(seed=1).select(range(3))
    made = library.Dataset.from_list(ROWS).filter(_is_large).shuffle(seed=1).select(range(3))
    assert made._fingerprint == expected._fingerprint and made.to_list() == expected.to_list()
    assert inspect.signature(library.Dataset.map) == inspect.signature(library.Dataset.map.__wrapped__)  # type: ignore[attr-defined]
    assert [step.call for step in datasets.history(made)] == ["filter", "shuffle", "select"]
    del made
    gc.collect()
    assert not [step for held in datasets._histories.values() for step in held[1] if held[0]() is None]


def _is_large(row: dict[str, Any]) -> bool:
    return bool(row["size"] > 2)


def test_a_history_is_bounded(heard: Heard) -> None:
    dataset = library.Dataset.from_list(ROWS)
    for _ in range(datasets.STEPS_KEPT + 6):
        dataset = dataset.with_format("torch")
    assert len(datasets.history(dataset)) == datasets.STEPS_KEPT
