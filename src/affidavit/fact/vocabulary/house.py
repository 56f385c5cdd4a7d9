"""Affidavit itself: what it loaded to judge with."""

from affidavit.fact.term import Category, Method, Scope, Term

TERMS = (
    Term(
        name="house.plugins",
        type=tuple,
        unit="",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.ENVIRONMENT,
        meaning="plugins whose terms, instruments and checks were loaded, with their versions",
    ),
)
