"""Adapters (LoRA and its kin): what was asked to be adapted, what matched, what trained."""

from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Layers, Tally

TERMS = (
    Term(
        name="adapter.kind",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        meaning='the kind of adapter on the model when training begins ("lora", …), or "none"',
    ),
    Term(
        name="adapter.targets",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="requested: the module names asked for; resolved: those of them that matched at least one module",
    ),
    Term(
        name="adapter.matched",
        type=Tally,
        unit="modules",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="modules that carry an adapter, by the asked name that matched them; a name that matched none counts 0",
    ),
    Term(
        name="adapter.settings",
        type=Layers,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="rank, scale and dropout of each adapted module as it runs; requested: as its config says",
    ),
    Term(
        name="adapter.trained",
        type=Tally,
        unit="modules",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        meaning="modules whose adapter got a gradient and belongs to the optimizer at the sampled step, by asked name",
    ),
)
