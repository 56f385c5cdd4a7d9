"""Norms whose weights are frozen keep their statistics as well."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOVES, RESTS = "frozen norm, statistics move", "frozen norm, statistics rest"
WOKEN = "frozen norm woken"
NEEDS = ("modes.layers", "modes.changed")


def hold_frozen_norms(layers: Value) -> bool:
    return isinstance(layers, Tally) and layers[MOVES] + layers[RESTS] > 0


@check(
    "frozen-norms-rest",
    needs=NEEDS,
    when=(("modes.layers", hold_frozen_norms),),
    landmine=Landmine.RESULT,
    unaffected="the data, the weights that train, the optimizer",
)
def frozen_norms_rest(case: Case) -> Outcome:
    """Freezing stops gradients; the running mean and variance of a norm are moved by the forward pass all the same.

    The part that was meant to stay as it was loaded gives other values after training, and a validation that ends
    with ``train()`` for the whole model starts it in the middle.

    Source: corpus L3-55. Blind to: norms that a library wrote by itself, outside of torch.
    """
    examined = 0
    for ranks, (layers, changed) in case.by_rank(*NEEDS):
        assert isinstance(layers, Tally) and isinstance(changed, Tally)
        if changed[WOKEN]:
            return Fail(
                expected=f"{layers[RESTS]:,} frozen norms at rest ({case.source('modes.layers')})",
                saw=f"{changed[WOKEN]:,} of them in training ({case.source('modes.changed')}, rank {written(ranks)})",
                means="What was put to rest is moved by each batch since then.",
                action="Put them back to eval() after each train() of the whole model.",
                sites=(Site(key=WOKEN, rank=ranks[0]),),
            )
        if layers[MOVES]:
            return Review(
                expected="the statistics of frozen norms at rest (none of their weights requires a gradient)",
                saw=f"{layers[MOVES]:,} frozen norms with statistics that move, {layers[RESTS]:,} at rest",
                means="The frozen part changes with each batch, though none of its weights does.",
                action='Call eval() on the frozen part, or run "affidavit accept" to confirm it.',
                accept=("modes.layers",),
                sites=(Site(key=MOVES),),
            )
        examined += layers[RESTS]
    return Pass(examined)


@frozen_norms_rest.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "modes.layers": Tally.count("layers", {RESTS: 4}),
        "modes.changed": Tally.count("layers", {"left in evaluation": 0, WOKEN: 0}),
    }
    return case_of(run=run, ranks=2)


@frozen_norms_rest.sabotage("on the last rank the frozen part was never put to rest", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("modes.layers", lambda layers: layers.plus(MOVES, 1), rank=-1)


@frozen_norms_rest.sabotage("a validation wakes them")
def _(case: Case) -> Case:
    return case.altered("modes.changed", lambda changed: changed.plus(WOKEN, 1))
