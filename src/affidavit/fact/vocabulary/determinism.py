"""Determinism: the seed in effect, and the switches that decide whether a second run is the same run."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="determinism.seed",
        type=int,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="seed of torch's random numbers when training begins",
    ),
    Term(
        name="determinism.settings",
        type=Table,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        category=Category.ENVIRONMENT,
        meaning="switches of torch that decide how exactly a run repeats; requested: those that were asked for",
    ),
)
