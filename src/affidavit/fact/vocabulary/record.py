"""Records: what a run builds on, and whether its record is still the one that was sealed."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="record.built_on",
        type=Table,
        unit="records",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="records that the run builds on: as what, of which run, how each stands now, and what was seen of it",
    ),
)
