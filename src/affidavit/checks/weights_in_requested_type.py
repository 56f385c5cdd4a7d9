"""Weights are held in the element type that the script asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.checks.precision_as_requested import is_stated
from affidavit.fact.values import Tally
from affidavit.record.ranks import written

NEEDS = ("precision.weights_requested", "precision.weights")


@check(
    "weights-in-requested-type",
    needs=NEEDS,
    when=(("precision.weights_requested", is_stated),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the attention",
)
def weights_in_requested_type(case: Case) -> Outcome:
    """A type that is asked for where nobody reads it changes nothing: the model was loaded before, by another call.

    Most floating elements count: norms, adapters and heads are kept in 32 bits by design.

    Source: hf-stack-spike §1 (``model_init_kwargs`` beside a model that is loaded already is ignored).
    Blind to: weights that are packed into integers; a model of two halves with a type each.
    """
    examined = 0
    for ranks, (asked, weights) in case.by_rank(*NEEDS):
        assert isinstance(weights, Tally)
        by_type = _by_type(weights)
        floating = {kind: count for kind, count in by_type.items() if "float" in kind}
        most = max(floating, key=lambda kind: (floating[kind], kind == asked), default="")
        is_packed = len(floating) < len(by_type)
        if most and most != asked and not is_packed:
            return Fail(
                expected=f"weights in {asked} ({case.source('precision.weights_requested')})",
                saw=f"{weights} (live weights, rank {written(ranks)})",
                means="The model that trains is not held as the script says.",
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in floating if kind != asked),
            )
        examined += weights.total
    return Pass(examined)


def _by_type(weights: Tally) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind, count in weights.counts:
        name = kind.partition(",")[0]
        counts[name] = counts.get(name, 0) + count
    return counts


@weights_in_requested_type.healthy
def _() -> Case:
    weights = Tally.count("elements", {"bfloat16, frozen": 9_000, "float32, trains": 100})
    return case_of(run={"precision.weights_requested": "bfloat16", "precision.weights": weights}, ranks=2)


@weights_in_requested_type.sabotage("another type was asked for")
def _(case: Case) -> Case:
    return case.altered("precision.weights_requested", lambda asked: "float16" if asked != "float16" else "float32")


@weights_in_requested_type.sabotage("on the last rank the weights are held in a type of their own")
def _(case: Case) -> Case:
    return case.altered(
        "precision.weights", lambda weights: Tally.count("elements", {"float8_e5m2, trains": weights.total}), rank=-1
    )
