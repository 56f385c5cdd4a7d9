"""Attention ran in a fused kernel, or somebody has confirmed that it does not."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.checks.attention_as_requested import OWN_CODE, attends
from affidavit.fact.values import Layers, Value
from affidavit.record.ranks import written

UNFUSED = {"math", "eager"}
"""Families that form the whole matrix of scores: memory and time grow with the square of the length."""


def may_fuse(layers: Value) -> bool:
    """Say whether any layer could have run another kernel; code that spells its attention out could not."""
    return isinstance(layers, Layers) and attends(layers) and any(kind != OWN_CODE for kind in layers.kinds)


@check(
    "attention-kernel-fused",
    needs=("attention.kernels",),
    when=(("attention.configured", may_fuse), ("attention.requested", lambda asked: asked != "eager")),
    landmine=Landmine.RESULT,
    unaffected="the loss, the data, the adapters",
)
def attention_kernel_fused(case: Case) -> Outcome:
    """A dropout in attention, an odd mask or head size sends "sdpa" to its math kernel, and no message says so.

    The numbers are right and the run is slow; a profile taken of it, or a size computed for it, is of another run.

    Source: playbook §4.3; hf-stack-spike §3 (dropout, GPT-2, T5). Blind to: a fused kernel that is slow on this device.
    """
    examined = 0
    for ranks, kernels in case.values("attention.kernels"):
        assert isinstance(kernels, tuple)
        examined += len(kernels)
        unfused = [kernel for kernel in kernels if kernel in UNFUSED]
        if unfused:
            return Review(
                expected="a fused attention kernel (nobody asked for eager)",
                saw=f"{' and '.join(unfused)} (executed, rank {written(ranks)})",
                means="Memory and time grow with the square of the sequence length.",
                accept=("attention.kernels",),
                sites=tuple(Site(key=kernel, rank=ranks[0]) for kernel in unfused),
            )
    return Pass(examined)


@attention_kernel_fused.healthy
def _() -> Case:
    layers = Layers.of({"layers.0.self_attn": "sdpa"})
    run: dict[str, Value] = {
        "attention.configured": layers,
        "attention.requested": "sdpa",
        "attention.kernels": ("flash",),
    }
    return case_of(run=run, ranks=2)


@attention_kernel_fused.sabotage("on the last rank dropout sent it to the math kernel", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("attention.kernels", ("flash", "math"), rank=-1)
