"""Claims: the numbers of a project's text that name their measurement, and old numbers that still stand in it."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table, Tally

TERMS = (
    Term(
        name="claims.examined",
        type=Tally,
        unit="claims",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="numbers that name their measurement and were held against it, and old numbers that were looked for",
    ),
    Term(
        name="claims.unbound",
        type=Table,
        unit="claims",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those that say something else than what was measured, or were taken back: path, line, claim, said",
    ),
    Term(
        name="claims.copies",
        type=Table,
        unit="places",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="places that still say a number that was taken back or replaced: path, line, claim, said",
    ),
    Term(
        name="claims.doubted",
        type=Table,
        unit="places",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="numbers that name no measurement or device, and ids where none can be read: path, line, claim, said",
    ),
    Term(
        name="claims.unread",
        type=Table,
        unit="places",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="measurements that could not be read, so that nothing was held against them: path, line, said",
    ),
    Term(
        name="claims.covered",
        type=int,
        unit="claims",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="claims whose measurement says which code it is about",
    ),
    Term(
        name="claims.stale",
        type=Table,
        unit="claims",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those of which that code is no longer what was measured: path, line, claim, said",
    ),
    Term(
        name="claims.occasion",
        type=str,
        unit="",
        scope=Scope.PROJECT,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning="what the claims are judged for: every day, or a release, for which all must be fresh",
    ),
)
