"""Rows reach to the end of their answers."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOST_CUT = 0.1
"""The share of rows beyond which a limit is no mere guard against the longest; a single one is never too many."""


def _has_rows(rows: Value) -> bool:
    return isinstance(rows, Tally) and rows.total > 0


@check(
    "answers-not-cut-off",
    needs=("tokens.rows_by_end",),
    when=(("tokens.rows_by_end", _has_rows),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def answers_not_cut_off(case: Case) -> Outcome:
    """A length limit cuts from the end, and that is where the answers are.

    Where every token is trained on, coverage is complete and the loss falls: on the questions.

    Source: hf-stack-spike §4 (a limit of 16: coverage 1.0, no answers); silent-failure-corpus L2-04, D1.
    Blind to: rows outside the sampled step; rows that were put together of others; text without turns or a prompt.
    """
    examined = 0
    for ranks, rows in case.values("tokens.rows_by_end"):
        assert isinstance(rows, Tally)
        wrong = [kind for kind in ("cut off", "without an answer") if rows[kind]]
        if sum(rows[kind] for kind in wrong) > max(1, MOST_CUT * rows.total):
            counts = " and ".join(f"{rows[kind]:,} of {rows.total:,} rows {kind}" for kind in wrong)
            return Review(
                expected="rows that end where their answers end",
                saw=f"{counts} (entered the model, rank {written(ranks)})",
                means="The model is not trained on these answers to their end, or at all.",
                action='Run "affidavit tokens" to see them, and raise the length limit.',
                accept=(),
                sites=tuple(Site(key=kind) for kind in wrong),
            )
        examined += rows.total
    return Pass(examined)


@answers_not_cut_off.healthy
def _() -> Case:
    rows = Tally.count("rows", {"whole": 60, "cut off": 2, "without an answer": 0})
    return case_of(run={"tokens.rows_by_end": rows}, ranks=2)


@answers_not_cut_off.sabotage("on the last rank every row is cut off", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("tokens.rows_by_end", lambda rows: rows.moved("whole", "cut off", rows["whole"]), rank=-1)


@answers_not_cut_off.sabotage("a third of the rows holds a question alone", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("tokens.rows_by_end", lambda rows: rows.plus("without an answer", 2 + rows.total // 2))
