"""No row that entered the model is longer than the limit that was asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Value
from affidavit.record.ranks import written


def has_text(longest: Value) -> bool:
    return isinstance(longest, int) and longest > 0


@check(
    "rows-within-max-length",
    needs=("batch.longest",),
    when=(("batch.longest", has_text),),
    landmine=Landmine.RESULT,
    unaffected="the optimizer, the adapters, the code",
)
def rows_within_max_length(case: Case) -> Outcome:
    """A limit can be named and never reach the data: where a dataset is prepared elsewhere, or a collator is one's own.

    Memory and time are then those of other rows, and what an evaluation cuts the training did not. Where nobody asked
    for a limit there is none to keep.

    Source: corpus L2-06. Blind to: rows that were cut shorter than the limit; rows outside of the sampled step.
    """
    for ranks, longest in case.values("batch.longest"):
        asked = case.request("batch.longest", rank=ranks[0])
        if asked is not None and int(str(longest)) > int(str(asked.value)):
            return Fail(
                expected=f"rows of {asked.value} tokens at most ({asked.source})",
                saw=f"a row of {longest} ({case.source('batch.longest')}, rank {written(ranks)})",
                means="The limit never reached the rows: memory, time and what is learned are those of longer ones.",
                sites=(Site(key="batch.longest", rank=ranks[0]),),
            )
    return Pass(examined=len(case.values("batch.longest")))


@rows_within_max_length.healthy
def _() -> Case:
    return case_of(run={"batch.longest": 100}, asked={"batch.longest": 128}, ranks=2)


@rows_within_max_length.sabotage("a longer row entered on the last rank")
def _(case: Case) -> Case:
    return case.asked("batch.longest", case.value("batch.longest")).altered(
        "batch.longest", lambda longest: longest + 1, rank=-1
    )
