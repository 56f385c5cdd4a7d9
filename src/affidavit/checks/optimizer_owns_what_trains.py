"""The optimizer holds the tensors of the model that trains, and not those of a model that was."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

NEEDS = ("optimizer.owned", "optimizer.unowned")
OURS, THEIRS = "owned, with gradient", "unowned, with gradient"
UNFED = "unowned, no gradient"
IDLE, FED = "foreign, idle", "foreign, with gradient"


@check(
    "optimizer-owns-what-trains",
    needs=NEEDS,
    landmine=Landmine.RESULT,
    unaffected="the attention, the data, the masks of the loss",
)
def optimizer_owns_what_trains(case: Case) -> Outcome:
    """An optimizer built before a model is wrapped, resized or adapted holds tensors that the loss no longer reads.

    Each step then moves nothing that matters, and no error is raised. Where it was only given a part of the model, the
    rest gets gradients for nothing: that may be meant, so somebody is asked.

    Source: corpus L3-42 to L3-45. Blind to: an engine that steps on copies of its own.
    """
    examined = 0
    review: Review | None = None
    for ranks, (owned, unowned) in case.by_rank(*NEEDS):
        assert isinstance(owned, Tally) and isinstance(unowned, tuple)
        where = f"(rank {written(ranks)})"
        sites = tuple(Site(key=name, rank=ranks[0]) for name in unowned)
        if owned[THEIRS] and owned[IDLE]:
            return Fail(
                expected=f"the optimizer to hold {owned[THEIRS] + owned[OURS]:,} tensors that got a gradient",
                saw=f"{owned[OURS]:,} of them, and {owned[IDLE]:,} tensors that are not in the model {where}",
                means="The optimizer was built before the model was changed: what the loss reads does not move.",
                sites=sites,
            )
        if owned[THEIRS] and owned[FED]:
            return Unproven("the optimizer steps on tensors outside the model: copies, perhaps, or another model")
        if not owned[OURS] and (owned[IDLE] or owned[UNFED]):
            return Unproven("neither the model's tensors nor the optimizer's have a gradient that is seen here")
        if owned[THEIRS]:
            review = Review(
                expected="every tensor that gets a gradient to belong to an optimizer",
                saw=f"{owned[THEIRS]:,} of {owned[THEIRS] + owned[OURS]:,} belong to none: {unowned[0]}, … {where}",
                means="They stay at their initial values.",
                accept=("optimizer.unowned",),
                sites=sites,
            )
        examined += owned.total
    return review or Pass(examined)


@optimizer_owns_what_trains.healthy
def _() -> Case:
    run: dict[str, Value] = {"optimizer.owned": Tally.count("tensors", {OURS: 8, "frozen": 4}), "optimizer.unowned": ()}
    return case_of(run=run, ranks=2)


@optimizer_owns_what_trains.sabotage("it was built before the model was wrapped")
def _(case: Case) -> Case:
    gone = case.altered("optimizer.owned", lambda owned: owned.plus(IDLE, 1).plus(THEIRS, 1))
    return gone.altered("optimizer.unowned", ("layers.0.weight",))


@optimizer_owns_what_trains.sabotage("on the last rank it was given a part of the model", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    part = case.altered("optimizer.owned", lambda owned: owned.plus(THEIRS, 1), rank=-1)
    return part.altered("optimizer.unowned", ("layers.0.weight",), rank=-1)
