"""The precision that was asked for is the one that matrix products ran in."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

SIXTEEN = ("bfloat16", "float16")
OF_WEIGHTS = "the type of the weights"
COMPUTES = {
    **dict.fromkeys(("bf16", "bf16-mixed", "bf16-true"), "bfloat16"),
    **dict.fromkeys(("fp16", "16", "16-mixed", "16-true"), "float16"),
    **dict.fromkeys(("float32", "fp32", "32", "32-true"), "float32"),
    **dict.fromkeys(("64", "64-true"), "float64"),
    "no": OF_WEIGHTS,
}
"""The words by which frameworks are asked, and the type in which products then run."""
NEEDS = ("precision.requested", "precision.weights_requested", "precision.weight_types", "precision.matmuls")


def is_stated(asked: Value) -> bool:
    return asked != UNSTATED


@check(
    "precision-as-requested",
    needs=NEEDS,
    when=(("precision.requested", is_stated),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the adapters",
)
def precision_as_requested(case: Case) -> Outcome:
    """A precision is asked for in one place and switched on in another, where the device or a second config decides.

    The state still names what was asked. Speed, memory, and every sum in the model are those of another precision.
    Products in 16 bits keep a request for 32 only where the weights themselves were asked for in these 16.

    Source: playbook §4.3; hf-stack-spike §4 (fp16 on CPU: the state says fp16, all ran in float32); corpus L3-16.
    Blind to: sums and norms; a part of the model that leaves autocast on purpose.
    """
    examined = 0
    for ranks, (asked, held, types, ran) in case.by_rank(*NEEDS):
        assert isinstance(types, tuple) and isinstance(ran, Tally)
        wanted = COMPUTES.get(str(asked), "")
        if not wanted:
            return Unproven(f"nobody here knows in which type products run under {asked}")
        low = {kind for kind in ran.kinds if kind in SIXTEEN}
        if wanted in SIXTEEN:
            strange = low - {wanted} or (set(ran.kinds) if not ran[wanted] else set())
        else:
            strange = low - (set(types) if wanted == OF_WEIGHTS else {str(held)})
        missing = wanted == "float64" and not ran[wanted]
        if strange or missing:
            return Fail(
                expected=f"{asked}, products in {wanted} ({case.source('precision.requested')})",
                saw=f"{ran} (executed, rank {written(ranks)})",
                means="Speed, memory and numerics of this run are those of another precision.",
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in sorted(strange or {wanted})),
            )
        examined += ran.total
    return Pass(examined)


@precision_as_requested.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "precision.requested": "no",
        "precision.weights_requested": "bfloat16",
        "precision.weight_types": ("bfloat16", "float32"),
        "precision.matmuls": Tally.count("operations", {"bfloat16": 90, "float32": 2}),
    }
    return case_of(run=run, ranks=2)


@precision_as_requested.sabotage("another precision was asked for")
def _(case: Case) -> Case:
    return case.altered("precision.requested", lambda asked: "fp16" if COMPUTES[asked] != "float16" else "bf16")


@precision_as_requested.sabotage("float32 was asked for, of the weights too, and nothing else changed")
def _(case: Case) -> Case:
    asked = case.altered("precision.requested", "64").altered("precision.requested", "32-true")
    return asked.altered("precision.weights_requested", "float8_e5m2").altered(
        "precision.matmuls", Tally.count("operations", {"bfloat16": 1})
    )


@precision_as_requested.sabotage("the weights are in other types than the products, and autocast was refused")
def _(case: Case) -> Case:
    kinds = ("float8_e5m2",)
    products = Tally.count("operations", {"float16": 3})
    refused = case.altered("precision.requested", "64").altered("precision.requested", "no")
    return refused.altered("precision.weight_types", kinds).altered("precision.matmuls", products)


@precision_as_requested.sabotage("on the last rank all ran in a type that nobody asked for")
def _(case: Case) -> Case:
    wanted = COMPUTES[str(case.value("precision.requested"))]
    other = "float16" if wanted in (*SIXTEEN[:1], "float32", "float64") else "bfloat16"
    kinds = case.value("precision.weight_types")
    if wanted == OF_WEIGHTS and isinstance(kinds, tuple):
        other = next(kind for kind in SIXTEEN if kind not in kinds)
    return case.altered("precision.matmuls", Tally.count("operations", {other: 7}), rank=-1)
