"""Weights: whether those that train move and the others rest, and whether they began as what the files hold."""

from affidavit.fact.term import Category, Method, Ranks, Scope, Term
from affidavit.fact.values import Layers, Table, Tally

TERMS = (
    Term(
        name="weights.moved",
        type=Tally,
        unit="tensors",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        meaning="parameters of the model at the last look, by whether they train and whether their bytes have changed",
    ),
    Term(
        name="weights.steps_watched",
        type=int,
        unit="steps",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        category=Category.INCIDENTAL,
        meaning="optimizer steps between the first look at the weights and the last; 0 where there was only one",
    ),
    Term(
        name="weights.exceptions",
        type=Layers,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        ranks=Ranks.FREE,
        lock=True,
        meaning="parameters that do not do what their requires_grad says or that got no gradient, and what they did",
    ),
    Term(
        name="weights.loaded",
        type=Tally,
        unit="tensors",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        meaning="parameters of models that from_pretrained made, against their files when training begins",
    ),
    Term(
        name="weights.strangers",
        type=Layers,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        lock=True,
        meaning="parameters that are not what the files of the model hold when training begins, and why",
    ),
    Term(
        name="weights.restored",
        type=Table,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        ranks=Ranks.FREE,
        meaning="states and adapters put into the model that trains: their tensors, those with a place, places without",
    ),
)
