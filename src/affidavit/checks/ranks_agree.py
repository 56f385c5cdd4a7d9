"""Ranks agree in everything in which the ranks of one run must."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.term import Ranks, Scope
from affidavit.fact.values import Value
from affidavit.record.compare import display
from affidavit.record.ranks import written


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
    shared = [term.name for term in case.vocabulary if term.scope is Scope.RANK and term.ranks is Ranks.SAME]
    said = {name: values for name in shared if (values := case.values(name))}
    apart = {name: values for name, values in said.items() if len(values) > 1}
    if apart:
        return Fail(
            expected=f"one {' and one '.join(apart)} on all ranks",
            saw="; ".join(_sides(values) for values in apart.values()),
            means="The ranks of this run computed different things.",
            sites=tuple(Site(key=name, rank=ranks[0]) for name, values in apart.items() for ranks, _ in values[1:]),
        )
    return Pass(examined=len(said))


def _sides(values: tuple[tuple[tuple[int, ...], Value], ...]) -> str:
    return " against ".join(f"{display(value)} (rank {written(ranks)})" for ranks, value in values)


@ranks_agree.healthy
def _() -> Case:
    return case_of(run={"run.ranks": 2, "attention.kernels": ("flash",), "adapter.kind": "none"}, ranks=2)


@ranks_agree.sabotage("the last rank ran another kernel")
def _(case: Case) -> Case:
    return case.altered("attention.kernels", ("somebody_elses",), rank=-1)
