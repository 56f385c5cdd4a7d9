"""The run as a whole: its processes and attempts, how they ended, and who decided what nobody asked for."""

from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="run.attempts",
        type=Table,
        unit="attempts",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="starts of the training, the first first: attempt, how it came, first and last step, loaded, saves",
    ),
    Term(
        name="run.edited",
        type=Table,
        unit="files",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="files of code that the newest attempt executed and an earlier one with other bytes: path, attempt",
    ),
    Term(
        name="run.ended",
        type=str,
        unit="",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning='how the command ended, as its supervisor saw it: "not over", "exit code 0", "unseen" or another end',
    ),
    Term(
        name="run.endings",
        type=Table,
        unit="ranks",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="ranks that did not end in an orderly way: rank, process, how, why, step",
    ),
    Term(
        name="run.writers",
        type=Table,
        unit="",
        scope=Scope.RUN,
        least=Method.INSPECTED,
        category=Category.INCIDENTAL,
        meaning="pairs of processes that trained as one rank at the same time: who, in which attempt, for how long",
    ),
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
