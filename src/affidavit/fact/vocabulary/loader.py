"""The loader of the training: in which order it reads, with how many workers, and what it leaves out."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term

TERMS = (
    Term(
        name="loader.sampler",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        meaning='class of the sampler that orders the rows; "none" where the data streams, "unseen" without a loader',
        phrase="rows are ordered by {}",
    ),
    Term(
        name="loader.drop_last",
        type=bool,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="whether the last batch of an epoch is left out where it is not full",
        phrase="a last batch that is not full is left out: {}",
    ),
    Term(
        name="loader.workers",
        type=int,
        unit="processes",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        category=Category.ENVIRONMENT,
        meaning="processes that read for the loader of this rank; 0 where the training reads by itself",
    ),
    Term(
        name="loader.batches",
        type=int,
        unit="micro-batches",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="micro-batches of one epoch on this rank; 0 where the data streams, or no loader was found",
    ),
)
