"""The trainer trains on the rows that it was given."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Table, Value

MOST_DROPPED = 0.05
"""The share of rows beyond which somebody should know that they are gone."""


def _has_rows(filters: Value) -> bool:
    return isinstance(filters, Table) and any(int(row["before"]) for row in filters.records())


@check(
    "rows-survive-preparation",
    needs=("dataset.filters",),
    when=(("dataset.filters", _has_rows),),
    landmine=Landmine.RESULT,
    unaffected="the labels of the rows that are left, the attention, the adapters, the code",
)
def rows_survive_preparation(case: Case) -> Outcome:
    """A trainer leaves out rows of which truncation left no label, and only the title of a progress bar says so.

    An epoch is shorter than planned, and the long rows are missing from it.

    Source: silent-failure-corpus L3b-11, L3b-12; hf-stack-spike §4 (28 of 64 rows kept). Blind to: streamed datasets;
    rows that the script leaves out itself.
    """
    examined = 0
    for _, filters in case.values("dataset.filters"):
        assert isinstance(filters, Table)
        for row in filters.records():
            before, after = int(row["before"]), int(row["after"])
            if before - after > MOST_DROPPED * before:
                return Review(
                    expected=f"{before:,} rows, as the script gave them",
                    saw=f'{after:,}: {before - after:,} dropped by {row["whose"]}, "{row["why"]}"',
                    means="The model never sees these rows; usually they are the long ones.",
                    action="Raise the length limit, or leave them out yourself.",
                    accept=(),
                    sites=(Site(key=f"{row['whose']}: {row['why']}"),),
                )
            examined += before
    return Pass(examined)


@rows_survive_preparation.healthy
def _() -> Case:
    why = "Dropping fully masked examples from train dataset"
    filters = Table(("whose", "why", "before", "after"), (("trl", why, 64, 64),))
    return case_of(run={"dataset.filters": filters}, ranks=2)


@rows_survive_preparation.sabotage("half of the rows have no label left", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("dataset.filters", lambda table: table.with_cell(0, "after", int(table.rows[0][2]) // 2))
