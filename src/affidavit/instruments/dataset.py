"""Dataset: what became of the script's rows and columns before they were collated."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Batch, Prepared, StepEnd
from affidavit.fact.term import Method
from affidavit.fact.values import Table

NOBODY = "no trainer took a dataset with named columns"


class Filters(Instrument):
    """Emits the filters that the trainer put the script's rows through; none where no trainer prepared a dataset.

    Source: silent-failure-corpus L3b-11, L3b-12; hf-stack-spike §4 (64 rows of which 28 were kept).
    Blind to: streamed datasets; rows that the script itself left out.
    """

    name = "filters"
    emits = ("dataset.filters",)

    def __init__(self) -> None:
        self._prepared: Prepared | None = None

    @at(Prepared)
    def prepared(self, moment: Prepared, emit: Emit) -> None:
        self._prepared = moment

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        if emit.spoken:
            return
        rows, source = (self._prepared.filters, self._prepared.source) if self._prepared else ((), NOBODY)
        table = Table(("whose", "why", "before", "after"), rows)
        emit.known("dataset.filters", table, source=source, method=Method.INSPECTED)


class Columns(Instrument):
    """Emits how far each column of the script's rows came.

    Source: silent-failure-corpus L2-15, L2-16; hf-stack-spike §4 (masks that nobody reads).
    Blind to: what a collator makes of a column that reaches it; datasets whose columns have no names.
    """

    name = "columns"
    emits = ("dataset.columns",)

    def __init__(self) -> None:
        self._prepared: Prepared | None = None
        self._entered: set[str] = set()

    @at(Prepared)
    def prepared(self, moment: Prepared, emit: Emit) -> None:
        self._prepared = moment

    @at(Batch, sampled=True)
    def batch(self, moment: Batch, emit: Emit) -> None:
        self._entered.update(moment.inputs)
        for value in moment.inputs.values():
            if isinstance(value, Mapping):  # a batch that enters as one object
                self._entered.update(value)

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        if emit.spoken:
            return
        columns, source = (self._prepared.columns, self._prepared.source) if self._prepared else ({}, NOBODY)
        rows = tuple(sorted((column, self._reached(column, fate)) for column, fate in columns.items()))
        emit.known("dataset.columns", Table(("column", "reached"), rows), source=source, method=Method.INSPECTED)

    def _reached(self, column: str, fate: str) -> str:
        if fate != "kept":
            return fate
        return "model" if column in self._entered else "collator"
