"""Every module that carries an adapter trains it."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.checks.adapter_targets_matched import is_adapted
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written


@check(
    "adapter-trained",
    needs=("adapter.matched", "adapter.trained"),
    when=(("adapter.kind", is_adapted),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the masks of the loss, the code",
)
def adapter_trained(case: Case) -> Outcome:
    """An adapter can be in the model and not train: frozen afterwards, or unknown to an optimizer built before it.

    The loss falls as long as anything trains, and the checkpoint holds the untrained half at its initial values.

    Source: playbook §4.3; silent-failure-corpus L3. Blind to: a learning rate of 0.
    """
    examined = 0
    for ranks, (matched, trained) in case.by_rank("adapter.matched", "adapter.trained"):
        assert isinstance(matched, Tally) and isinstance(trained, Tally)
        idle = [name for name in matched.kinds if trained[name] < matched[name]]
        if idle:
            counts = " and ".join(f"{trained[name]} of {matched[name]} {name}" for name in idle)
            return Fail(
                expected=f"{matched} adapted and training (live modules)",
                saw=f"{counts} with a gradient that the optimizer uses (rank {written(ranks)})",
                means="Part of the adapter stays at its initial values.",
                sites=tuple(Site(key=name, rank=ranks[0]) for name in idle),
            )
        examined += matched.total
    return Pass(examined) if examined else Unproven("no module carries an adapter")


@adapter_trained.healthy
def _() -> Case:
    modules = Tally.count("modules", {"q_proj": 4, "v_proj": 4})
    run: dict[str, Value] = {"adapter.kind": "lora", "adapter.matched": modules, "adapter.trained": modules}
    return case_of(run=run, ranks=2)


@adapter_trained.sabotage("one module is frozen")
def _(case: Case) -> Case:
    return case.altered("adapter.trained", lambda trained: trained.plus(trained.kinds[0], -1))


@adapter_trained.sabotage("one more module carries an adapter than trains it")
def _(case: Case) -> Case:
    return case.altered("adapter.matched", lambda matched: matched.plus(matched.kinds[0], 1))
