"""A state or an adapter that is put into the model finds its place there."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Value
from affidavit.record.ranks import written

LEAST_SHARE = 0.1
"""Who takes one part of a larger checkpoint by design takes more than this; a chance match of names takes less."""


def is_restored(rows: Value) -> bool:
    return isinstance(rows, Table) and bool(rows.rows)


@check(
    "states-reach-the-model",
    needs=("weights.restored",),
    when=(("weights.restored", is_restored),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the code",
)
def states_reach_the_model(case: Case) -> Outcome:
    """``strict=False`` drops what it does not know: a prefix too many, and a random model is trained as if pretrained.

    An adapter is loaded in that way always, and PEFT warns at most; one that found no place makes the base model
    speak under the adapter's name.

    Source: playbook §4.3; silent-failure-corpus L3-36, L3-37, L3-73. Blind to: a state that fits and is another's.
    """
    examined = 0
    for ranks, rows in case.values("weights.restored"):
        assert isinstance(rows, Table)
        lost = [row for row in rows.records() if _is_lost(row)]
        if lost:
            row = lost[0]
            return Fail(
                expected=f"{row['tensors']} tensors put in ({row['source']})",
                saw=f"{row['taken']} that fit a name of the model, and {row['missing']} places without one "
                f"(rank {written(ranks)})",
                means="The model trains from other weights than those that were loaded.",
                action="Print what load_state_dict returned, and compare the first names of both sides.",
                sites=tuple(Site(key=str(row["source"]), rank=ranks[0]) for row in lost),
            )
        examined += len(rows.rows)
    return Pass(examined)


def _is_lost(row: dict[str, bool | int | float | str]) -> bool:
    tensors, taken, missing = (int(row[name]) for name in ("tensors", "taken", "missing"))
    if row["kind"] == "adapter":
        return bool(missing) or not taken
    return tensors > 0 and taken < LEAST_SHARE * tensors


@states_reach_the_model.healthy
def _() -> Case:
    columns = ("kind", "source", "tensors", "taken", "missing")
    rows = (("state", "Net.load_state_dict", 40, 38, 2), ("adapter", "adapter 'default' of PeftModel", 16, 16, 0))
    run: dict[str, Value] = {"weights.restored": Table(columns, rows)}
    return case_of(run=run, ranks=2)


@states_reach_the_model.sabotage("the file has a prefix that the model has not")
def _(case: Case) -> Case:
    return case.altered("weights.restored", lambda rows: rows.with_cell(0, "taken", 0))


@states_reach_the_model.sabotage("a checkpoint of the whole system, of which a few names match by chance")
def _(case: Case) -> Case:
    return case.altered("weights.restored", lambda rows: rows.with_cell(0, "tensors", 400))


@states_reach_the_model.sabotage("a partial state was meant for an adapter")
def _(case: Case) -> Case:
    return case.altered("weights.restored", lambda rows: rows.with_cell(0, "kind", "adapter"))


@states_reach_the_model.sabotage("half of the adapter stays as it was made")
def _(case: Case) -> Case:
    return case.altered("weights.restored", lambda rows: rows.with_cell(1, "missing", 8))
