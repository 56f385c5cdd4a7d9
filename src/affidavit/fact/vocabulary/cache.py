"""Caches: what was served out of one, and whether it is what its function makes today."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="cache.canary",
        type=Table,
        unit="rows",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="what was served from a cache, and how many of its rows were recomputed and differ: a line a function",
    ),
    Term(
        name="cache.probes",
        type=Table,
        unit="inputs",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="what probes have proven of the keys of cached functions that the process uses: a line a function",
    ),
)
