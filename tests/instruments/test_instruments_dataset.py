"""How far each column of the script's rows came, and which rows a trainer left out."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from spoken import Voice

from affidavit.attach.instrument import Instrument
from affidavit.attach.moment import Batch, Prepared, StepEnd
from affidavit.fact.observation import Cause, Unknown
from affidavit.instruments.dataset import Columns, Filters

PREPARED = Prepared(
    columns={"input_ids": "kept", "seq_lengths": "kept", "assistant_masks": "read", "loss_mask": "left out"},
    filters=(("trl", "Dropping fully masked examples", 64, 28),),
    regrouped=False,
    source="test",
)


def _told(instrument: Instrument, *moments: Any) -> Voice:
    voice = Voice(instrument)
    listeners = {kind: getattr(instrument, name) for kind, _, name in type(instrument).listeners()}
    for moment in (*moments, StepEnd(step=2)):
        listeners[type(moment)](moment, voice.emit)
    return voice


def test_a_column_is_followed_into_the_model() -> None:
    ids = torch.ones(2, 4, dtype=torch.long)
    voice = _told(Columns(), PREPARED, Batch(step=2, inputs={"input_ids": ids, "labels": ids}))
    assert dict(voice.known("dataset.columns").rows) == {
        "input_ids": "model",
        "seq_lengths": "collator",
        "assistant_masks": "read",
        "loss_mask": "left out",
    }


def test_rows_that_a_trainer_left_out() -> None:
    assert _told(Filters(), PREPARED).known("dataset.filters").records()[0]["after"] == 28


@pytest.mark.parametrize(("instrument", "term"), [(Filters, "dataset.filters"), (Columns, "dataset.columns")])
def test_no_trainer_left_nothing_out(instrument: type[Instrument], term: str) -> None:
    assert _told(instrument()).known(term).rows == ()


@pytest.mark.parametrize(("instrument", "term"), [(Filters, "dataset.filters"), (Columns, "dataset.columns")])
def test_an_account_that_failed_is_not_an_empty_one(instrument: type[Instrument], term: str) -> None:
    made = instrument()
    voice = Voice(made)
    voice.emit.unknown(term, Cause.INSTRUMENT_FAILED, "the adapter could not describe the model")
    made.report(StepEnd(step=2), voice.emit)  # type: ignore[attr-defined]
    (seen,) = voice.said
    assert isinstance(seen.state, Unknown)
