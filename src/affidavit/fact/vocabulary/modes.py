"""Modes: which modules are in training and which in evaluation while the model trains."""

from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Tally

TERMS = (
    Term(
        name="modes.modules",
        type=Tally,
        unit="modules",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        follows=("adapter.kind", "adapter.targets", "adapter.settings"),
        meaning="modules of the model in training and in evaluation, when the sampled batch enters it",
        phrase="modules in training and in evaluation: {}",
    ),
    Term(
        name="modes.layers",
        type=Tally,
        unit="layers",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        follows=("adapter.kind", "adapter.targets", "adapter.settings"),
        meaning="layers to which the mode matters, by what it does to them: dropout, norms with running statistics",
        phrase="layers that the mode changes: {}",
        usual=((Tally("layers", ()), "no dropout and no running statistics"),),
    ),
    Term(
        name="modes.changed",
        type=Tally,
        unit="layers",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="such layers in another mode in a later step: left at rest with the model, or woken though frozen",
        phrase="layers whose mode changed on the way: {}",
    ),
)
