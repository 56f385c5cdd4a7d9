"""Attention: what was asked, what each layer is configured to do, which kernel ran."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Layers, Tally

TERMS = (
    Term(
        name="attention.requested",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning='the attention implementation the script named when it loaded the model, or "unstated"',
    ),
    Term(
        name="attention.configured",
        type=Layers,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        asked_by="attention.requested",
        meaning="the attention implementation each attention layer is configured with when training begins",
        phrase="attention is configured as {}",
        usual=((Layers(()), "no attention layer"),),
    ),
    Term(
        name="attention.executed",
        type=Tally,
        unit="calls",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        seat=True,
        category=Category.INCIDENTAL,
        meaning="forward calls of each attention kernel family in one sampled micro-batch, recomputation included",
    ),
    Term(
        name="attention.kernels",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        lock=True,
        seat=True,
        derived_from=("attention.executed",),
        follows=("attention.configured",),
        meaning="the attention kernel families that ran in the sampled step",
        phrase="attention ran as {}",
        usual=(((), "no attention ran"),),
    ),
)
