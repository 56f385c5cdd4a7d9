"""The run as a whole: how many processes it was, and who decided what nobody asked for."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="run.owners",
        type=Table,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning="facts that the script did not ask for, and who decided each: a default, the environment, a file",
    ),
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
