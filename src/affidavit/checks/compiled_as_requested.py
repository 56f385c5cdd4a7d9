"""A model that was to be compiled is compiled."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Value
from affidavit.record.ranks import written

KEEPS: dict[str, set[Value]] = {"whole": {"whole", "parts"}}
"""What each request may become: a compiler may be given the repeated blocks alone."""


@check(
    "compiled-as-requested",
    needs=("model.compiled",),
    landmine=Landmine.RESULT,
    unaffected="the loss, as far as compiled code computes the same",
)
def compiled_as_requested(case: Case) -> Outcome:
    """A compiler can be asked for and do nothing: switched off in the environment, or handed a model nobody calls.

    The wrapper is there and the argument says so; the speed is that of plain Python, and so is every measurement.

    Source: torch 2.13 _dynamo.config (``disable``, measured: the model is wrapped, no frame is compiled). Blind to:
    graph breaks, and frames that were compiled and then given up.
    """
    for ranks, saw in case.values("model.compiled"):
        asked = case.request("model.compiled", rank=ranks[0])
        if asked is not None and saw not in KEEPS.get(str(asked.value), {asked.value}):
            return Fail(
                expected=f"the model compiled ({asked.source})",
                saw=f"compiled: {saw}, {case.source('model.compiled')} (rank {written(ranks)})",
                means="The run has the speed of a model that is not compiled.",
                sites=(Site(key="model.compiled", rank=ranks[0]),),
            )
    return Pass(examined=len(case.values("model.compiled")))


@compiled_as_requested.healthy
def _() -> Case:
    return case_of(run={"model.compiled": "whole"}, asked={"model.compiled": "whole"}, ranks=2)


@compiled_as_requested.sabotage("the compiler did nothing on the last rank")
def _(case: Case) -> Case:
    return case.asked("model.compiled", "whole").altered("model.compiled", "in vain", rank=-1)
