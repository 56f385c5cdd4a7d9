"""The model as a whole: what is recomputed, what is compiled, and which ids end a text."""

from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Table

TERMS = (
    Term(
        name="model.checkpointing",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        lock=True,
        meaning='whether layers recompute their activations in the backward pass: "on", "partly" or "off"',
        phrase="gradient checkpointing is {}",
        usual=(("off", "no gradient checkpointing"),),
    ),
    Term(
        name="model.compiled",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        lock=True,
        seat=True,
        meaning='what torch had compiled by step 2: the "whole" model, "parts", other "functions", "no", or "in vain"',
        phrase="torch has compiled: {}",
        usual=(("no", "nothing compiled"),),
    ),
    Term(
        name="model.special_tokens",
        type=Table,
        unit="",
        scope=Scope.RANK,
        least=Method.INSPECTED,
        meaning="ids that end and that pad a text, as the tokenizer, the model and its generation hold them",
        phrase="ids that end and pad a text: {}",
    ),
)
