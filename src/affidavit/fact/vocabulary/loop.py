"""The loop: how long it was meant to be, how long it was, and what it kept on the way."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term

TERMS = (
    Term(
        name="loop.planned_steps",
        type=int,
        unit="steps",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        follows=("batch.effective",),
        meaning="optimizer steps after which the loop means to end, 0 where it does not say",
        phrase="the loop plans {} steps",
    ),
    Term(
        name="loop.epochs",
        type=float,
        unit="epochs",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        follows=("loop.planned_steps", "batch.effective", "batch.rows", "batch.accumulation"),
        meaning="passes over the data that the planned steps come to, 0 where the plan or the length is not known",
        phrase="the planned steps come to {} epochs",
    ),
    Term(
        name="loop.steps",
        type=int,
        unit="steps",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        follows=("loop.planned_steps",),
        meaning="optimizer steps that were taken when this was last looked at",
        phrase="the loop took {} steps",
    ),
    Term(
        name="loop.ended",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning='"as planned", "stopped early", "data ran out", "returned", "raised", "interrupted" or "not over"',
    ),
    Term(
        name="loop.saves",
        type=int,
        unit="checkpoints",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="checkpoints that the loop said it wrote; requested: the least that the asked cadence comes to",
    ),
)
