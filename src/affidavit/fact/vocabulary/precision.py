"""Precision: which element types were asked for, are held, and were computed with.

A request to compute is the word of the framework that took it: "bf16" and "fp16" (autocast), "no" (the type of the
weights, whatever it is), "16-mixed", "bf16-true", "32-true"; "float32" where 16 bits were refused by name.
"""

from affidavit.fact.term import Method, Ranks, Scope, Term
from affidavit.fact.values import Tally

TERMS = (
    Term(
        name="precision.requested",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        meaning='the precision the script asked to compute in, in its framework\'s word ("bf16", "no"), or "unstated"',
    ),
    Term(
        name="precision.outside",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        meaning='the precision that the environment or another file asked for, outside of the script, or "unstated"',
    ),
    Term(
        name="precision.weights_requested",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        meaning='the element type in which the script asked to hold the weights, or "unstated"',
    ),
    Term(
        name="precision.weights",
        type=Tally,
        unit="elements",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        meaning="elements of the model's weights when training begins, by type, those that train and frozen ones apart",
    ),
    Term(
        name="precision.weight_types",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        asked_by="precision.weights_requested",
        derived_from=("precision.weights",),
        meaning="the element types of the model's weights when training begins",
    ),
    Term(
        name="precision.gradients",
        type=Tally,
        unit="elements",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        meaning="elements of the gradients that the sampled step gave to the optimizer, by type",
    ),
    Term(
        name="precision.optimizer_state",
        type=Tally,
        unit="elements",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        meaning="elements the optimizer keeps for the weights it owns after the sampled step, by type, copies apart",
    ),
    Term(
        name="precision.matmuls",
        type=Tally,
        unit="operations",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        seat=True,
        meaning="matrix products and convolutions of one sampled micro-batch, both directions, by type of their input",
    ),
    Term(
        name="precision.matmul_types",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        lock=True,
        seat=True,
        derived_from=("precision.matmuls",),
        meaning="the element types in which matrix products of the sampled step ran",
    ),
)
