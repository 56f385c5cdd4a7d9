"""Every weight that trains moves."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict, check
from affidavit.fact.values import Layers, Tally, Value
from affidavit.record.ranks import written

STILL = "still despite a gradient"
ROUNDED = "still in 16 bits despite a gradient"
NO_GRADIENT = "without gradient"
UNUSED = ("with a gradient of 0 or no number", "at learning rate 0", "outside the optimizer")
"""Why a weight that trains may rest by design, one by one; where all of them do, nothing was trained."""
ENOUGH_STEPS = 4
"""LoRA's A has no gradient before the second step, and a warm-up begins at rate 0: no step before this one decides."""


def is_decided(steps: Value) -> bool:
    return isinstance(steps, int) and steps >= ENOUGH_STEPS


@check(
    "trained-weights-move",
    needs=("weights.moved", "weights.exceptions"),
    when=(("weights.steps_watched", is_decided),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the code",
)
def trained_weights_move(case: Case) -> Outcome:
    """A weight can get its gradient in every step and stay where it was, while the loss falls through the others.

    The optimizer steps on copies that nobody reads, or the update is lost in the rounding of 16-bit weights: a norm
    that begins at 1 does not move at ordinary rates, and whoever trains in 16 bits may want that, so it is asked about
    once. A weight that no gradient reaches, or that one group leaves out, may be so by design, and is counted only; but
    where nothing at all moved, nothing was trained.

    Source: playbook §4.3; silent-failure-corpus L3-34, L3-35, L3-42 to L3-45, L3-62, L8-01.
    Blind to: single rows of a weight; a weight that moves the wrong way.
    """
    examined = sum(moved["moved"] for _, moved in case.values("weights.moved") if isinstance(moved, Tally))
    for ranks, (moved, exceptions) in case.by_rank("weights.moved", "weights.exceptions"):
        assert isinstance(moved, Tally) and isinstance(exceptions, Layers)
        # A rank of a sharded model may hold a part that nothing uses, and no other.
        idle = sum(moved[kind] for kind in (*UNUSED, ROUNDED)) + (0 if examined else moved[NO_GRADIENT])
        names = [name for name, kind in exceptions.runs if kind == STILL]
        if moved[STILL] or names or (idle and not moved["moved"]):
            return Fail(
                expected="every weight that requires a gradient and gets one moves",
                saw=f"{_named(names)}{moved} after {case.value('weights.steps_watched')} steps (rank {written(ranks)})",
                means="These weights are saved as they were loaded."
                if moved["moved"]
                else "Nothing was trained: the weights are what they were before the first step.",
                action="Look for a missing owner (optimizer-owns-what-trains), a rate of 0, or 16-bit weights whose "
                "rounding swallows the update.",
                sites=tuple(Site(key=name, rank=ranks[0]) for name in names),
            )
        rounded = [name for name, kind in exceptions.runs if kind == ROUNDED]
        if moved[ROUNDED] or rounded:
            return Review(
                expected="every weight that requires a gradient and gets one moves",
                saw=f"{_named(rounded)}{moved} (rank {written(ranks)})",
                means="Rounding swallowed the updates of these weights: they are saved as they were loaded.",
                accept=("weights.exceptions",),
                action="Keep a 32-bit copy (dtype=float32 with bf16=True), or freeze them and say so.",
                sites=tuple(Site(key=name, rank=ranks[0]) for name in rounded),
            )
    return Pass(examined) if examined else Unproven("no weight that trains could be compared")


def _named(names: list[str]) -> str:
    return f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''} still; " if names else ""


@trained_weights_move.healthy
def _() -> Case:
    moved = Tally.count("tensors", {"moved": 12, "frozen at rest": 40, "without gradient": 2})
    run: dict[str, Value] = {
        "weights.steps_watched": 8,
        "weights.moved": moved,
        "weights.exceptions": Layers.of({"pooler.weight": "without gradient", "pooler.bias": "without gradient"}),
    }
    return case_of(run=run, ranks=2)


@trained_weights_move.sabotage("on the last rank rounding swallows the updates of two norms", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.plus(ROUNDED, 2), rank=-1)


@trained_weights_move.sabotage("two weights stay where they were")
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.plus(STILL, 2), rank=-1)


@trained_weights_move.sabotage("a norm stays where it was")
def _(case: Case) -> Case:
    return case.altered("weights.exceptions", Layers.of({"layers.0.norm.weight": STILL}))


@trained_weights_move.sabotage("the optimizer owns none of the weights")
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.moved("moved", "outside the optimizer", moved["moved"]))


@trained_weights_move.sabotage("no gradient reached any weight")
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.moved("moved", NO_GRADIENT, moved["moved"]))


@trained_weights_move.sabotage("the learning rate was 0 throughout")
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.moved("moved", "at learning rate 0", moved["moved"]))
