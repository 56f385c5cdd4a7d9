"""Ranks agree in everything in which the ranks of one run must."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.term import Ranks, Scope
from affidavit.record.compare import display


@check(
    "ranks-agree",
    needs=("*",),
    when=(("run.ranks", lambda ranks: isinstance(ranks, int) and ranks > 1),),
    landmine=Landmine.RESULT,
    unaffected="facts in which the ranks agree",
)
def ranks_agree(case: Case) -> Outcome:
    """Two hosts with two images train one model: the gradient is an average of two different computations.

    Compared from each rank's own file, so that a rank that hangs or lies cannot hold up the others.

    Source: anchors-provenance §11.4. Blind to: facts that are free to differ, such as the data each rank saw.
    """
    examined = 0
    for term in case.vocabulary:
        said = case.values(term.name) if term.scope is Scope.RANK and term.ranks is Ranks.SAME else ()
        if len(said) > 1:
            return Fail(
                expected=f"one {term.name} on all ranks",
                saw="; ".join(f"{display(value)} on rank {', '.join(map(str, ranks))}" for ranks, value in said),
                means="The ranks of this run computed different things.",
                sites=tuple(Site(key=term.name, rank=rank) for ranks, _ in said[1:] for rank in ranks),
            )
        examined += len(said)
    return Pass(examined)


@ranks_agree.healthy
def _() -> Case:
    return case_of(run={"run.ranks": 2, "attention.kernels": ("flash",), "adapter.kind": "none"}, ranks=2)


@ranks_agree.sabotage("the last rank ran another kernel")
def _(case: Case) -> Case:
    return case.altered("attention.kernels", ("somebody_elses",), rank=-1)
