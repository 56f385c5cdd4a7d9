"""The attention that was asked for is the attention that is configured, and that ran."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Layers, Tally, Value
from affidavit.record.ranks import written

OWN_CODE = "own code"
"""What a layer is configured with that spells its attention out itself."""
KERNELS = {
    "eager": {"eager"},
    "sdpa": {"flash", "efficient", "cudnn", "math"},
    "flex_attention": {"flex"},
    "flash_attention_2": {"flash"},
    "flash_attention_3": {"flash"},
    "flash_attention_4": {"flash"},
    OWN_CODE: {"flash", "efficient", "cudnn", "math", "flex", "eager"},
}
"""The kernel families that keep each promise."""


def attends(layers: Value) -> bool:
    return isinstance(layers, Layers) and bool(layers.runs)


def promised(implementation: str) -> set[str]:
    """Return the kernel families that an attention implementation may run; none where its name says nothing here."""
    name = implementation.rpartition("|")[2]
    return {"flash"} if is_hub_flash(name) else KERNELS.get(name, set())


def is_hub_flash(name: str) -> bool:
    """Say whether a name is a repository of flash kernels: what a library takes where the package is missing."""
    return "/" in name and "flash" in name


@check(
    "attention-as-requested",
    needs=("attention.requested", "attention.configured", "attention.executed"),
    when=(("attention.configured", attends), ("attention.requested", lambda asked: asked != UNSTATED)),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the adapters",
)
def attention_as_requested(case: Case) -> Outcome:
    """A request is what a script says; which kernel runs is decided later, layer by layer, by other hands.

    A switch left behind after a debugging session, a second config, a registry override or a library default each
    leave the argument object correct. Speed, memory and numerics then belong to a run nobody asked for.

    Source: playbook §4.3; hf-stack-spike §3. Blind to: two kernels of one family with different numerics.
    """
    examined, unheard = 0, dict[str, None]()
    for ranks, (asked, layers, ran) in case.by_rank(
        "attention.requested", "attention.configured", "attention.executed"
    ):
        assert isinstance(layers, Layers) and isinstance(ran, Tally)
        wanted = {part.rpartition(": ")[2] for part in str(asked).split(", ")}
        kernels = set[str]().union(*map(promised, wanted))
        silent = dict.fromkeys(name for name in sorted(wanted) if not promised(name))
        stands_in = any(promised(name) == {"flash"} for name in wanted)
        others = [
            f"{run} configured {name}"
            for run, name in layers.runs
            if name not in wanted and not (stands_in and is_hub_flash(name))
        ]
        strange = [kind for kind in ran.kinds if kind not in kernels and not silent]
        if others or strange:
            counts = " and ".join(f"{ran[kind]:,} {kind} calls" for kind in strange)
            executed = f"{counts} (executed, rank {written(ranks)})" if strange else ""
            return Fail(
                expected=f"{asked} ({case.source('attention.requested')})",
                saw="; ".join(filter(None, (*others[:2], executed))),
                means="Speed, memory and numerics of this run are those of another attention.",
                sites=tuple(Site(key=key, rank=ranks[0]) for key in (*others, *strange)),
            )
        unheard |= silent
        examined += ran.total
    if unheard:
        return Unproven(f"nobody here knows which kernels {', '.join(unheard)} may run")
    return Pass(examined)


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
