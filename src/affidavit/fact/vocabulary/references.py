"""References in the text of a project: how many were read, and which of them point to nothing."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="references.examined",
        type=int,
        unit="references",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="links to files and headings, and numbers of sections, in documents and comments",
    ),
    Term(
        name="references.broken",
        type=Table,
        unit="references",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those that point to nothing: path, line, text, said",
    ),
    Term(
        name="references.moved",
        type=Table,
        unit="references",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="those by a number that now stands over another section: path, line, text, said",
    ),
    Term(
        name="references.unread",
        type=Table,
        unit="places",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="documents that could not be read: path, line, said",
    ),
)
