"""The run as a whole: how many processes it was."""

from affidavit.fact.term import Category, Method, Scope, Term

TERMS = (
    Term(
        name="run.ranks",
        type=int,
        unit="ranks",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.ENVIRONMENT,
        meaning="ranks of this run: the most that any rank spoke of",
    ),
)
