"""What somebody else wrote down of a run that nobody of ours saw: files that were adopted, and all that they say."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="foreign.files",
        type=Table,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files that were adopted: path, digest, bytes, and whether what they say was read",
    ),
    Term(
        name="foreign.values",
        type=Table,
        unit="values",
        scope=Scope.RUN,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning="everything that those files say and no term of ours holds: file and key path, value",
    ),
)
