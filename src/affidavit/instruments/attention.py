"""Attention: what was asked, what each layer is configured with, which kernel families ran in the sampled step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Asked, Configured, Operation, Operations, Unheard
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Layers, Tally

FAMILIES = (
    ("flex", ("flex_attention",)),
    ("flash", ("scaled_dot_product_flash_attention", "flash_attn", "fmha_fwd", "varlen_attn")),
    ("efficient", ("scaled_dot_product_efficient_attention", "xformers::efficient_attention_forward")),
    ("cudnn", ("scaled_dot_product_cudnn_attention",)),
    ("math", ("scaled_dot_product_attention_math",)),
)
"""A kernel family, and the parts of operation names that show it. The kernel, not the wrapper that dispatches to it."""


class AttentionConfiguration(Instrument):
    """Emits what the model was asked to use, and what each attention layer is configured with as training begins.

    Source: hf-stack-spike §3 (a top-level config says sdpa while one layer, or the tower that trains, runs eager).
    Blind to: attention modules that keep no config of their own.
    """

    name = "attention configuration"
    emits = ("attention.requested", "attention.configured")

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        if moment.subject == "attention":
            emit.known("attention.requested", moment.value, source=moment.source, method=Method.DECLARED)

    @at(Unheard)
    def unheard(self, moment: Unheard, emit: Emit) -> None:
        if moment.subject == "attention":
            emit.unknown("attention.requested", moment.cause, moment.why)

    @at(Configured)
    def configured(self, moment: Configured, emit: Emit) -> None:
        if moment.subject == "attention":
            layers = Layers.of(moment.layers)
            emit.known("attention.configured", layers, source=moment.source, method=Method.INSPECTED)


class AttentionKernels(Instrument):
    """Emits which kernel families ran in the first micro-batch of the sampled step.

    Source: critic-architect R1, R10; hf-stack-spike §3.
    Blind to: attention fused by a compiler into a kernel without a telling name, and a model without attention; both
    are Unknown(NO_OPERATION), because silence does not say "math".
    """

    name = "attention kernels"
    emits = ("attention.executed", "attention.kernels")

    @at(Operations)
    def executed(self, moment: Operations, emit: Emit) -> None:
        calls = count_families(moment.operations)
        if not calls.total:
            for term in self.emits:
                emit.unknown(term, Cause.NO_OPERATION, f"no attention kernel was named in step {moment.step}")
            return
        source = f"execution trace of step {moment.step}"
        emit.known("attention.executed", calls, source=source, method=Method.EXECUTED)
        emit.known("attention.kernels", calls.kinds, source=source, method=Method.EXECUTED)


def count_families(operations: Iterable[Operation]) -> Tally:
    """Return forward calls by kernel family.

    Eager attention has no operation of its own: it is a softmax over a four-dimensional score tensor that no fused
    kernel called, (batch, heads, queries, keys). A router's softmax has two dimensions, a loss uses log-softmax.
    """
    counts: Counter[str] = Counter()
    softmaxes = 0
    for operation in operations:
        if not operation.sizes:
            continue  # tried by a compiler on tensors without a storage, never executed
        softmaxes += operation.name == "aten::_softmax" and len(operation.sizes) == 4
        family = _family(operation.name)
        if family:
            counts[family] += 1
    counts["eager"] += max(softmaxes - counts["math"], 0)
    return Tally.count("calls", {family: count for family, count in counts.items() if count})


def _family(name: str) -> str:
    if "backward" in name.lower():
        return ""
    return next((family for family, parts in FAMILIES if any(part in name for part in parts)), "")
