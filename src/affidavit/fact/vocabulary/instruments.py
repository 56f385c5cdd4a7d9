"""Instruments: which are proved able to fail, what gates say of the tree, what people have attested."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="instruments.proofs",
        type=Table,
        unit="instruments",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="guards, gates, the watch, and checks that missed a fault: kind, name, word, date of proof, why",
    ),
    Term(
        name="gates.answers",
        type=Table,
        unit="gates",
        scope=Scope.PROJECT,
        least=Method.EXECUTED,
        category=Category.INCIDENTAL,
        meaning="what each of the project's own gates said of the tree before the command: gate, code, seconds, why",
    ),
    Term(
        name="attestations.answers",
        type=Table,
        unit="questions",
        scope=Scope.PROJECT,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="questions that only a person can answer: question, answer, words, author, date, until, and why it "
        "does not hold",
    ),
)
