"""Artifacts: what a run saved as models, and what of it was still there when the run was sealed."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table, Tally

TERMS = (
    Term(
        name="artifact.saves",
        type=Table,
        unit="saves",
        scope=Scope.RUN,
        least=Method.EXECUTED,
        category=Category.INCIDENTAL,
        meaning="places that the run saved a model to, the newest first: path, form, step, time, state, mark",
    ),
    Term(
        name="artifact.files",
        type=Table,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files of those places as they were when the run was sealed: path, digest, bytes, step",
    ),
    Term(
        name="artifact.files_by_state",
        type=Tally,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files of those places by how they were digested, or why they were not",
    ),
)
