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
        phrase="the adapter is {}",
        usual=(("none", "no adapter"),),
    ),
    Term(
        name="adapter.targets",
        type=tuple,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        follows=("adapter.kind",),
        meaning="requested: the module names asked for; resolved: those of them that matched at least one module",
        phrase="the adapter targets {}",
    ),
    Term(
        name="adapter.matched",
        type=Tally,
        unit="modules",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        follows=("adapter.kind", "adapter.targets"),
        meaning="modules that carry an adapter, by the asked name that matched them; a name that matched none counts 0",
        phrase="the adapter sits on {} modules",
    ),
    Term(
        name="adapter.settings",
        type=Layers,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        follows=("adapter.kind", "adapter.targets"),
        meaning="rank, scale and dropout of each adapted module as it runs; requested: as its config says",
        phrase="the adapter runs with {}",
    ),
    Term(
        name="adapter.trained",
        type=Tally,
        unit="modules",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        follows=("adapter.kind", "adapter.targets", "adapter.matched"),
        meaning="modules whose adapter got a gradient and belongs to the optimizer at the sampled step, by asked name",
        phrase="the adapter trains on {} modules",
    ),
)
