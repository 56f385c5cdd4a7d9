"""Batches: how many rows make one optimizer step, and how long they are."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term

TERMS = (
    Term(
        name="batch.plan",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.DECLARED,
        category=Category.INCIDENTAL,
        meaning='what the script said of its batches: "stated", "to be found" (as many rows as fit), or "unstated"',
    ),
    Term(
        name="batch.rows",
        type=int,
        unit="rows",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="rows of a whole micro-batch, as the loader of the training makes it; 1 where rows are packed into one",
        phrase="a micro-batch has {} rows",
    ),
    Term(
        name="batch.accumulation",
        type=int,
        unit="micro-batches",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        meaning="micro-batches whose gradients were added up for one optimizer step",
        phrase="an optimizer step adds up {} micro-batches",
    ),
    Term(
        name="batch.effective",
        type=int,
        unit="rows",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        derived_from=("batch.rows", "batch.accumulation"),
        follows=("batch.rows", "batch.accumulation"),
        meaning="rows that one optimizer step learns from, over all micro-batches and all ranks",
        phrase="an optimizer step learns from {} rows",
    ),
    Term(
        name="batch.longest",
        type=int,
        unit="tokens",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="tokens of the longest row that entered the model in the sampled step, without padding; 0 without text",
    ),
)
