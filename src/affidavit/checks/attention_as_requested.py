"""The attention that was asked for is the attention that is configured, and that ran."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Layers, Tally, Value

KERNELS = {
    "eager": {"eager"},
    "sdpa": {"flash", "efficient", "cudnn", "math"},
    "flex_attention": {"flex"},
    "flash_attention_2": {"flash"},
    "flash_attention_3": {"flash"},
}
"""The kernel families that keep each promise; a name that is not here promises itself."""


def promised(implementation: str) -> set[str]:
    """Return the kernel families that an attention implementation may run."""
    return KERNELS.get(implementation.rpartition("|")[2], {implementation})


@check(
    "attention-as-requested",
    needs=("attention.requested", "attention.configured", "attention.executed"),
    when=(("attention.requested", lambda asked: asked != "unstated"),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the adapters",
)
def attention_as_requested(case: Case) -> Outcome:
    """A request is what a script says; which kernel runs is decided later, layer by layer, by other hands.

    A switch left behind after a debugging session, a second config, a registry override or a library default each
    leave the argument object correct. Speed, memory and numerics then belong to a run nobody asked for.

    Source: playbook §4.3; hf-stack-spike §3. Blind to: two kernels of one family with different numerics.
    """
    examined = 0
    for ranks, asked in case.values("attention.requested"):
        wanted = {part.rpartition(": ")[2] for part in str(asked).split(", ")}
        kernels = set[str]().union(*map(promised, wanted))
        sites = _other_layers(case, wanted)
        saw = [f"{site.key} configured otherwise" for site in sites[:1]]
        for ran_on, ran in case.values("attention.executed"):
            assert isinstance(ran, Tally)
            examined += ran.total
            strange = [f"{ran[kind]} {kind} calls" for kind in ran.kinds if kind not in kernels]
            if strange:
                saw.append(f"{' and '.join(strange)} (executed, {_ranks(ran_on)})")
        if saw:
            return Fail(
                expected=f"{asked} ({case.source('attention.requested')})",
                saw="; ".join(saw),
                means="Speed, memory and numerics of this run are those of another attention.",
                sites=sites or tuple(Site(rank=rank) for rank in ranks),
            )
    return Pass(examined)


def _other_layers(case: Case, wanted: set[str]) -> tuple[Site, ...]:
    sites: dict[str, Site] = {}
    for _, layers in case.values("attention.configured"):
        assert isinstance(layers, Layers)
        for run, implementation in layers.runs:
            if implementation not in wanted:
                sites[run] = Site(key=f"{run} is {implementation}")
    return tuple(sites.values())


def _ranks(ranks: tuple[int, ...]) -> str:
    return f"rank {', '.join(map(str, ranks))}"


@attention_as_requested.healthy
def _() -> Case:
    layers = Layers.of({f"layers.{place}.self_attn": "sdpa" for place in range(4)})
    ran = Tally.count("calls", {"flash": 4})
    run: dict[str, Value] = {"attention.requested": "sdpa", "attention.configured": layers, "attention.executed": ran}
    return case_of(run=run, ranks=2)


@attention_as_requested.sabotage("another implementation was asked for")
def _(case: Case) -> Case:
    return case.altered("attention.requested", lambda asked: "eager" if asked != "eager" else "flex_attention")


@attention_as_requested.sabotage("one layer keeps a config of its own")
def _(case: Case) -> Case:
    def switch(layers: Layers) -> Layers:
        return layers.with_layer(next(iter(layers.expand())), "somebody_elses")

    return case.altered("attention.configured", switch)


@attention_as_requested.sabotage("on the last rank one call ran another kernel")
def _(case: Case) -> Case:
    return case.altered("attention.executed", lambda ran: ran.moved(ran.kinds[0], "somebody_elses", 1), rank=-1)
