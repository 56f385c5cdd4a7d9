"""Layers recompute their activations where that was asked for, and only there."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Value
from affidavit.record.ranks import written

KEEPS: dict[str, set[Value]] = {"on": {"on", "partly"}, "off": {"off"}}
"""What each request may become: every n-th layer is a way to have it on."""


@check(
    "checkpointing-as-requested",
    needs=("model.checkpointing",),
    landmine=Landmine.RESULT,
    unaffected="the loss and the weights: what is recomputed is the same",
)
def checkpointing_as_requested(case: Case) -> Outcome:
    """A switch that stayed off costs the memory it was to save; one that stayed on costs a third of the speed.

    Helpers that prepare a model for adapters turn it on whatever the arguments say, and copies of a model lose it.

    Source: hf-stack-spike §4; corpus L3-34. Blind to: models with a switch of another name; how it recomputes.
    """
    for ranks, saw in case.values("model.checkpointing"):
        asked = case.request("model.checkpointing", rank=ranks[0])
        if asked is not None and saw not in KEEPS.get(str(asked.value), {asked.value}):
            return Fail(
                expected=f"checkpointing {asked.value} ({asked.source})",
                saw=f"{saw}: {case.source('model.checkpointing')} (rank {written(ranks)})",
                means="Memory and speed are those of another setting than the arguments say.",
                sites=(Site(key="model.checkpointing", rank=ranks[0]),),
            )
    return Pass(examined=len(case.values("model.checkpointing")))


@checkpointing_as_requested.healthy
def _() -> Case:
    return case_of(run={"model.checkpointing": "on"}, asked={"model.checkpointing": "on"}, ranks=2)


@checkpointing_as_requested.sabotage("a helper turned it the other way on the last rank")
def _(case: Case) -> Case:
    other = "on" if case.value("model.checkpointing") == "off" else "off"
    return case.asked("model.checkpointing", "off" if other == "on" else "on").altered(
        "model.checkpointing", other, rank=-1
    )
