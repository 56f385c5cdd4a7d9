"""Rows that are trained on carry a label."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Verdict, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOST_DARK = 0.1
"""The share of rows without a label beyond which somebody should look; a single one is never too many."""


def _has_rows(rows: Value) -> bool:
    return isinstance(rows, Tally) and rows.total > 0


@check(
    "every-row-teaches",
    needs=("tokens.rows_by_label",),
    when=(("tokens.rows_by_label", _has_rows),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def every_row_teaches(case: Case) -> Outcome:
    """A marker that a tokenizer splits otherwise, or a prompt longer than the limit, leaves a row without any label.

    Such a row costs its time and teaches nothing. Where all are so, the loss is 0 or NaN and the run goes on.

    Source: silent-failure-corpus D1, L3b-07 to L3b-11, L3b-16. Blind to: rows outside the sampled step.
    """
    examined = 0
    for ranks, rows in case.values("tokens.rows_by_label"):
        assert isinstance(rows, Tally)
        saw = f"{rows['dark']:,} of {rows.total:,} rows without any label (entered the model, rank {written(ranks)})"
        if not rows["lit"]:
            return Fail(
                expected="a label in every row",
                saw=saw,
                means="The sampled step trained on nothing.",
                action='Run "affidavit tokens" to see them.',
            )
        if rows["dark"] > max(1, MOST_DARK * rows.total):
            return Review(
                expected="a label in every row",
                saw=saw,
                means="These rows cost time and teach nothing.",
                action='Run "affidavit tokens" to see them.',
                accept=(),
            )
        examined += rows.total
    return Pass(examined)


@every_row_teaches.healthy
def _() -> Case:
    return case_of(run={"tokens.rows_by_label": Tally.count("rows", {"lit": 64, "dark": 0})}, ranks=2)


@every_row_teaches.sabotage("on the last rank no row carries a label")
def _(case: Case) -> Case:
    return case.altered("tokens.rows_by_label", lambda rows: rows.moved("lit", "dark", rows["lit"]), rank=-1)


@every_row_teaches.sabotage("a third of the rows carries none", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("tokens.rows_by_label", lambda rows: rows.plus("dark", 2 + rows["lit"] // 2))
