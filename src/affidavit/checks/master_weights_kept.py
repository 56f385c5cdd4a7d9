"""Weights that train in 16 bits have a copy in 32, or somebody asked for none."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.checks.precision_as_requested import SIXTEEN
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

COPY = "float32 copies of the weights"
DECLARE = {"bf16-true": "bfloat16", "16-true": "float16"}
"""Words for computing that ask for the weights in 16 bits as well."""
NEEDS = ("precision.gradients", "precision.optimizer_state", "precision.weights_requested", "precision.requested")


def are_low(gradients: Value) -> bool:
    return isinstance(gradients, Tally) and any(gradients[kind] for kind in SIXTEEN)


@check(
    "master-weights-kept",
    needs=NEEDS,
    when=(("precision.gradients", are_low),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, what the products ran in",
)
def master_weights_kept(case: Case) -> Outcome:
    """An update that is smaller than the spacing of 16-bit numbers around a weight is rounded away.

    Loading took the checkpoint's type where the release before took 32 bits: the same script now trains in pure 16.
    That is a choice, and it is nobody's until somebody makes it.

    Source: corpus L3-48; hf-stack-spike §1, §4. Blind to: an optimizer that rounds at random or carries what it lost,
    and one that keeps its copy under a name that says nothing.
    """
    examined = 0
    for ranks, (gradients, state, held, asked) in case.by_rank(*NEEDS):
        assert isinstance(gradients, Tally) and isinstance(state, Tally)
        declared = {held, DECLARE.get(str(asked))}
        low = {kind: gradients[kind] for kind in SIXTEEN if gradients[kind] and kind not in declared}
        if sum(low.values()) > state[COPY]:
            counts = " and ".join(f"{count:,} {kind} elements" for kind, count in low.items())
            return Review(
                expected=f"weights that train in 32 bits, or 16 by name ({case.source('precision.weights_requested')})",
                saw=f"{counts} trained, the optimizer keeps {state} for them (rank {written(ranks)})",
                means="Small updates are rounded away, and nobody asked for that.",
                action='Load with dtype=torch.float32, or run "affidavit accept" to confirm 16 bits.',
                accept=("precision.weight_types",),
                sites=tuple(Site(key=kind) for kind in low),
            )
        examined += gradients.total
    return Pass(examined)


@master_weights_kept.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "precision.gradients": Tally.count("elements", {"bfloat16": 900, "float32": 10}),
        "precision.optimizer_state": Tally.count("elements", {COPY: 900, "float32": 1_820}),
        "precision.weights_requested": "unstated",
        "precision.requested": "unstated",
        "precision.weight_types": ("bfloat16", "float32"),
    }
    return case_of(run=run, ranks=2)


@master_weights_kept.sabotage("the optimizer keeps no copy", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    bare = case.altered("precision.weights_requested", "float8_e5m2").altered("precision.weights_requested", UNSTATED)
    silent = bare.altered("precision.requested", "64").altered("precision.requested", UNSTATED)
    return silent.altered(
        "precision.optimizer_state", lambda state: Tally.count("elements", {"bfloat16": state.total + 1})
    )


@master_weights_kept.sabotage("another type was asked for, and more trains than is copied", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    other = case.altered("precision.weights_requested", "float32").altered("precision.requested", "bf16")
    return other.altered("precision.gradients", lambda gradients: gradients.plus("float16", 10_000_000_000))
