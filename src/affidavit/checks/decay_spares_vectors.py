"""Where somebody spares norms and biases from weight decay, none of them is forgotten."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Value
from affidavit.record.ranks import written


def is_decay(decay: Value) -> bool:
    return isinstance(decay, float) and decay > 0


@check(
    "decay-spares-vectors",
    needs=("optimizer.decayed_vectors",),
    when=(("optimizer.weight_decay", is_decay),),
    landmine=Landmine.RESULT,
    unaffected="the learning rate, the data, the masks of the loss",
)
def decay_spares_vectors(case: Case) -> Outcome:
    """Norms and biases are spared by their names, and a norm under another name is pulled to zero with the matrices.

    A list that says "LayerNorm.weight" misses every norm that is called "norm.weight". An optimizer that spares no
    vector at all was not told to, and is not asked about.

    Source: corpus L3-46. Blind to: vectors that are stored as a matrix of one row.
    """
    examined = 0
    for ranks, decayed in case.values("optimizer.decayed_vectors"):
        assert isinstance(decayed, tuple)
        if decayed:
            named = ", ".join(decayed[:3]) + (", …" if len(decayed) > 3 else "")
            return Review(
                expected="no weight decay on norms and biases, since a group spares such tensors",
                saw=f"decay on {named} ({case.source('optimizer.decayed_vectors')}, rank {written(ranks)})",
                means="These are pulled towards zero at every step.",
                accept=("optimizer.decayed_vectors",),
                sites=tuple(Site(key=name, rank=ranks[0]) for name in decayed),
            )
        examined += len(ranks)
    return Pass(examined)


@decay_spares_vectors.healthy
def _() -> Case:
    run: dict[str, Value] = {"optimizer.weight_decay": 0.1, "optimizer.decayed_vectors": ()}
    return case_of(run=run, ranks=2)


@decay_spares_vectors.sabotage("on the last rank a norm under another name decays", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("optimizer.decayed_vectors", ("layers.0.scale",), rank=-1)
