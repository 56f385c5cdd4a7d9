"""A row begins once and ends once."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOST_DOUBLED = 0.05
"""The share of rows beyond which it is the preparation and not a text that quotes the token."""


def is_readable(form: Value) -> bool:
    return form in ("chat", "text")


@check(
    "begin-not-doubled",
    needs=("tokens.doubled",),
    when=(("tokens.form", is_readable),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def begin_not_doubled(case: Case) -> Outcome:
    """A template that writes the token of the beginning, and a tokenizer that adds it, make two of one.

    The model trains on a beginning that no prompt will have, or the other way round, and is a little worse for it.

    Source: silent-failure-corpus D3, L3b-19 to L3b-21. Blind to: rows outside the sampled step; a model whose one
    token both begins and ends a text.
    """
    examined = 0
    for ranks, rows in case.values("tokens.doubled"):
        assert isinstance(rows, Tally)
        wrong = [kind for kind in ("begin", "end") if rows[kind] > MOST_DOUBLED * rows.total]
        if wrong:
            counts = " and ".join(f"{rows[kind]:,} of {rows.total:,} rows {kind} twice" for kind in wrong)
            return Fail(
                expected="one token to begin a row and one to end it (rows as they entered the model)",
                saw=f"{counts} (rank {written(ranks)})",
                means="The model trains on rows as no prompt will be written.",
                action='Render without special tokens, or tokenize with "add_special_tokens=False".',
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in wrong),
            )
        examined += rows.total
    return Pass(examined)


@begin_not_doubled.healthy
def _() -> Case:
    rows = Tally.count("rows", {"begin": 0, "end": 0, "neither": 64})
    return case_of(run={"tokens.form": "chat", "tokens.doubled": rows}, ranks=2)


@begin_not_doubled.sabotage("on the last rank every row begins twice")
def _(case: Case) -> Case:
    return case.altered("tokens.doubled", lambda rows: rows.moved("neither", "begin", rows["neither"]), rank=-1)


@begin_not_doubled.sabotage("rows end twice")
def _(case: Case) -> Case:
    return case.altered("tokens.doubled", lambda rows: rows.moved("neither", "end", rows["neither"]))
