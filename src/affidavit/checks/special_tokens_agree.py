"""The id that ends a text for the tokenizer ends it for the model that generates."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Value
from affidavit.record.ranks import written

END = "end"


def have_ends(tokens: Value) -> bool:
    return isinstance(tokens, Table) and any(_stops(row) and row["tokenizer"] for row in tokens.records())


@check(
    "special-tokens-agree",
    needs=("model.special_tokens",),
    when=(("model.special_tokens", have_ends),),
    landmine=Landmine.RESULT,
    unaffected="the loss, the optimizer, the code",
)
def special_tokens_agree(case: Case) -> Outcome:
    """A model learns to end a turn with the tokenizer's id, and its generation waits for another: it never stops.

    The training looks fine and so does its loss. A Trainer aligns the two when it begins; a loop of one's own does not.

    Source: silent-failure-corpus D3; hf-stack-spike §4. Blind to: stop tokens that are handed to ``generate``.
    """
    for ranks, tokens in case.values("model.special_tokens"):
        assert isinstance(tokens, Table)
        for row in tokens.records():
            ours, theirs = set(str(row["tokenizer"]).split(", ")) - {""}, _stops(row)
            if row["token"] == END and ours and theirs and not ours & theirs:
                return Fail(
                    expected=f"generation that stops at {row['tokenizer']} (the tokenizer's end of text)",
                    saw=f"generation stops at {', '.join(sorted(theirs))} (rank {written(ranks)})",
                    means="What it learns to end a text with does not end it when it generates.",
                    action="Set generation_config.eos_token_id before the model is saved.",
                    sites=(Site(key="model.special_tokens", rank=ranks[0]),),
                )
    return Pass(examined=len(case.values("model.special_tokens")))


def _stops(row: Mapping[str, Value]) -> set[str]:
    """Return the ids at which a model stops: those of its generation, else of its own config."""
    return set(str(row["generation"] or row["model"]).split(", ")) - {""} if row["token"] == END else set()


@special_tokens_agree.healthy
def _() -> Case:
    columns = ("token", "tokenizer", "model", "generation")
    tokens = Table(columns, ((END, "5", "5", "1, 5"), ("padding", "0", "0", "")))
    return case_of(run={"model.special_tokens": tokens}, ranks=2)


def _with(case: Case, **cells: str) -> Case:
    def change(tokens: Table) -> Table:
        place = tokens.column("token").index(END)
        for column, cell in cells.items():
            tokens = tokens.with_cell(place, column, cell)
        return tokens

    return case.altered("model.special_tokens", change)


@special_tokens_agree.sabotage("generation waits for another id")
def _(case: Case) -> Case:
    return _with(case, generation="4000000001", model="4000000001")


@special_tokens_agree.sabotage("the tokenizer ends its texts with another id")
def _(case: Case) -> Case:
    return _with(case, tokenizer="4000000002")


@special_tokens_agree.sabotage("an end that is called otherwise is not an end")
def _(case: Case) -> Case:
    def swap(tokens: Table) -> Table:
        return Table(tokens.columns, (*tokens.rows, (END, "4000000003", "4000000004", "4000000004")))

    return case.altered("model.special_tokens", swap)
