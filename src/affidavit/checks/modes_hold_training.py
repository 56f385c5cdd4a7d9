"""What trains is in training mode, from the sampled step to the end."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

ACTIVE, SILENT = "dropout, active", "dropout, silent"
RESTS = "norm, statistics rest"
LEFT = "left in evaluation"
NEEDS = ("modes.modules", "modes.layers", "modes.changed")


def matter(layers: Value) -> bool:
    return isinstance(layers, Tally) and layers.total > 0


@check(
    "modes-hold-training",
    needs=NEEDS,
    when=(("modes.layers", matter),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the attention",
)
def modes_hold_training(case: Case) -> Outcome:
    """A loader returns a model in evaluation mode, and a validation leaves it there; a loop need not put it back.

    Gradients flow all the same and the loss falls. Dropout that the model asks for never happens, and norms use
    statistics that no batch of this run has moved. Norms that a script puts to rest by themselves are its choice.

    Source: corpus L3-54. Blind to: dropout that is called as a function.
    """
    examined = 0
    for ranks, (modules, layers, changed) in case.by_rank(*NEEDS):
        assert isinstance(modules, Tally) and isinstance(layers, Tally) and isinstance(changed, Tally)
        asleep = not modules["training"] and layers[SILENT] + layers[RESTS]
        if asleep or changed[LEFT] or (layers[SILENT] and not layers[ACTIVE]):
            where = case.source("modes.changed") if changed[LEFT] else case.source("modes.layers")
            counts = (
                f"{changed[LEFT]:,} layers {LEFT}" if changed[LEFT] else f"{layers}; {modules} with weights that train"
            )
            return Fail(
                expected="what trains in training mode (its own weights require gradients)",
                saw=f"{counts} ({where}, rank {written(ranks)})",
                means="The model trains without the dropout and the statistics it is made with.",
                action="Call model.train() before the first step and after each evaluation.",
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in layers.kinds),
            )
        if layers[SILENT]:
            return Review(
                expected=f"dropout active in all that trains ({case.source('modes.layers')})",
                saw=f"{layers[SILENT]:,} silent, {layers[ACTIVE]:,} active",
                means="A part of the model trains without the dropout it is made with.",
                action='Call train() on that part, or run "affidavit accept" to confirm it.',
                accept=("modes.layers",),
                sites=(Site(key=SILENT),),
            )
        examined += layers.total
    return Pass(examined)


@modes_hold_training.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "modes.modules": Tally.count("modules", {"training": 30, "evaluation": 0}),
        "modes.layers": Tally.count("layers", {ACTIVE: 8}),
        "modes.changed": Tally.count("layers", {LEFT: 0, "frozen norm woken": 0}),
    }
    return case_of(run=run, ranks=2)


@modes_hold_training.sabotage("all of it is in evaluation")
def _(case: Case) -> Case:
    asleep = case.altered("modes.modules", lambda modules: Tally.count("modules", {"evaluation": modules.total + 1}))
    return asleep.altered("modes.layers", lambda layers: Tally.count("layers", {RESTS: layers.total + 1}))


@modes_hold_training.sabotage("no dropout is active on the last rank")
def _(case: Case) -> Case:
    return case.altered("modes.layers", lambda layers: Tally.count("layers", {SILENT: layers.total + 1}), rank=-1)


@modes_hold_training.sabotage("a part of it is in evaluation", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    awake = case.altered("modes.modules", lambda modules: modules.plus("training", 1))
    return awake.altered("modes.layers", lambda layers: layers.plus(ACTIVE, 1).plus(SILENT, 1))


@modes_hold_training.sabotage("a validation leaves it in evaluation")
def _(case: Case) -> Case:
    return case.altered("modes.changed", lambda changed: changed.plus(LEFT, 8))
