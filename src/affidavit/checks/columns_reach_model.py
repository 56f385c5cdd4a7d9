"""A column that weighs or masks the loss is read by somebody."""

from __future__ import annotations

import re

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Table, Value

MASK = re.compile(r"(loss|completion|assistant|response|answer|label|target|train|supervision)s?(_tokens?)?_masks?")
WEIGHT = re.compile(r"((sample|loss|token|example|row|instance|class)s?_)?weights?")
"""Names of columns that exist for the loss; whatever else is left over (texts, ids, sources) is nobody's loss."""


def _has_columns(columns: Value) -> bool:
    return isinstance(columns, Table) and bool(columns.rows)


@check(
    "columns-reach-model",
    needs=("dataset.columns", "tokens.supervision_requested"),
    when=(("dataset.columns", _has_columns),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def columns_reach_model(case: Case) -> Outcome:
    """A trainer leaves out every column whose name it does not expect: a mask under another name, weights of rows.

    Nothing is raised and nothing is logged at the usual level; the loss is that of rows without the column.

    Source: silent-failure-corpus D4, L2-15, L2-16; hf-stack-spike §4 (loss_mask, completion_mask, completion_masks).
    Blind to: a collator that is given a column and makes nothing of it; columns under names of their own.
    """
    examined = 0
    for _, (columns, asked) in case.by_rank("dataset.columns", "tokens.supervision_requested"):
        assert isinstance(columns, Table)
        examined += len(columns.rows)
        left_out = [str(row["column"]) for row in columns.records() if row["reached"] == "left out"]
        masks = [name for name in left_out if MASK.fullmatch(name.lower()) and asked != "every token"]
        weights = [name for name in left_out if WEIGHT.fullmatch(name.lower())]
        if masks:
            return Fail(
                expected=f"{' and '.join(masks)} read by somebody (columns of the script's rows)",
                saw="left out of the rows before they were collated",
                means="The rows say which tokens to train on, and nobody heard them.",
                action='Use the name that the trainer reads, or "remove_unused_columns=False" and a collator of yours.',
                sites=tuple(Site(key=name) for name in masks),
            )
        if weights:
            return Review(
                expected=f"{' and '.join(weights)} read by somebody (columns of the script's rows)",
                saw="left out of the rows before they were collated",
                means="Every row and token weighs the same in the loss, unless a sampler of yours has read them.",
                action='Set "remove_unused_columns=False" and use them, or waive it.',
                accept=(),
                sites=tuple(Site(key=name) for name in weights),
            )
    return Pass(examined)


@columns_reach_model.healthy
def _() -> Case:
    columns = Table(("column", "reached"), (("assistant_masks", "read"), ("input_ids", "model"), ("text", "left out")))
    return case_of(run={"dataset.columns": columns, "tokens.supervision_requested": "unstated"}, ranks=2)


@columns_reach_model.sabotage("the mask is left out")
def _(case: Case) -> Case:
    return case.altered("dataset.columns", lambda table: table.with_row("loss_mask", "left out"))


@columns_reach_model.sabotage("on the last rank nobody reads the mask that was there", expect=Verdict.FAIL)
def _(case: Case) -> Case:
    masked = case.altered(
        "tokens.supervision_requested", lambda asked: "assistant" if asked != "assistant" else "completion", rank=-1
    )
    return masked.altered("dataset.columns", lambda table: table.with_row("completion_masks", "left out"), rank=-1)


@columns_reach_model.sabotage("weights of rows are left out", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("dataset.columns", lambda table: table.with_row("weight", "left out"))
