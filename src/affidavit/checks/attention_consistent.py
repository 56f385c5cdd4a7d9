"""What each layer is configured with is what ran."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.checks.attention_as_requested import KERNELS, attends, promised
from affidavit.fact.values import Layers, Tally
from affidavit.record.ranks import written


@check(
    "attention-consistent",
    needs=("attention.configured", "attention.executed"),
    when=(("attention.configured", attends),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the adapters",
)
def attention_consistent(case: Case) -> Outcome:
    """A config names an implementation; a registry decides what that name runs.

    Where the two part, every layer and the model card say one kernel and another ran. Layers are compared one by one,
    because some models run two implementations by design.

    Source: playbook §4.3; hf-stack-spike §3.4. Blind to: two layers that swapped their kernels.
    """
    examined, unheard = 0, dict[str, None]()
    for ranks, (layers, ran) in case.by_rank("attention.configured", "attention.executed"):
        assert isinstance(layers, Layers) and isinstance(ran, Tally)
        allowed = {name: promised(name) for name in layers.kinds}
        silent = dict.fromkeys(name for name, kernels in allowed.items() if not kernels)
        promises = set[str]().union(*allowed.values())
        strange = [kind for kind in ran.kinds if kind not in promises and not silent]
        idle = [name for name, kernels in allowed.items() if kernels and not kernels & set(ran.kinds)]
        if strange or idle:
            return Fail(
                expected=f"{layers} (configured)",
                saw=f"{ran} (executed, rank {written(ranks)})",
                means="The name in the config runs something else here; the model card describes another run.",
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in (*strange, *idle)),
            )
        unheard |= silent
        examined += ran.total
    if unheard:
        return Unproven(f"nobody here knows which kernels {', '.join(unheard)} may run")
    return Pass(examined)


@attention_consistent.healthy
def _() -> Case:
    layers = Layers.of({"layers.0.self_attn": "eager", "layers.1.self_attn": "sdpa"})
    ran = Tally.count("calls", {"eager": 1, "flash": 1})
    return case_of(run={"attention.configured": layers, "attention.executed": ran}, ranks=2)


@attention_consistent.sabotage("a registry sends the name to another kernel")
def _(case: Case) -> Case:
    return case.altered("attention.executed", lambda ran: ran.moved(ran.kinds[-1], "somebody_elses", 1), rank=-1)


@attention_consistent.sabotage("a layer is configured with something that never ran")
def _(case: Case) -> Case:
    ran = case.value("attention.executed")
    assert isinstance(ran, Tally)
    never = next(name for name, kernels in KERNELS.items() if not kernels & set(ran.kinds))
    return case.altered("attention.configured", lambda layers: layers.with_layer(next(iter(layers.expand())), never))
