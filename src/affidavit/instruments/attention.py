"""Attention: what was asked, what each layer is configured with, which kernel families ran in the sampled step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Asked, Configured, StepBegin, StepEnd
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Layers, Tally

FAMILIES = (
    ("flex", ("flex_attention",)),
    ("flash", ("scaled_dot_product_flash_attention", "flash_attn", "fmha_fwd", "varlen_attn")),
    ("efficient", ("scaled_dot_product_efficient_attention",)),
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

    @at(Configured)
    def configured(self, moment: Configured, emit: Emit) -> None:
        if moment.subject == "attention":
            layers = Layers.of(moment.layers)
            emit.known("attention.configured", layers, source=moment.source, method=Method.INSPECTED)


class AttentionKernels(Instrument):
    """Emits which kernel families ran, from a profiler around the one sampled step.

    A dispatch mode would switch the run's torch.compile off for good, so it is the profiler or nothing; and where the
    run's own profiler is active, nothing: ours inside it would leave it empty.

    Source: critic-architect R1, R10; hf-stack-spike §3.
    Blind to: attention fused by a compiler into a kernel without a telling name, and a model without attention; both
    are Unknown(NO_OPERATION), because silence does not say "math".
    """

    name = "attention kernels"
    emits = ("attention.executed", "attention.kernels")
    budget_seconds = 5.0

    def __init__(self) -> None:
        self._profiler: Any = None

    @at(StepBegin, sampled=True)
    def start(self, moment: StepBegin, emit: Emit) -> None:
        import torch

        if torch._C._autograd._profiler_enabled():
            for term in self.emits:
                emit.unknown(term, Cause.PROFILER_BUSY, "the run's own profiler was active in the sampled step")
            return
        self._profiler = torch.autograd.profiler.profile(record_shapes=True, use_kineto=True)
        self._profiler.__enter__()

    @at(StepEnd, sampled=True)
    def stop(self, moment: StepEnd, emit: Emit) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        calls = count_families(_operations(profiler))
        if not calls.total:
            for term in self.emits:
                emit.unknown(term, Cause.NO_OPERATION, f"no attention kernel was named in step {moment.step}")
            return
        source = f"profiler around step {moment.step}"
        emit.known("attention.executed", calls, source=source, method=Method.EXECUTED)
        emit.known("attention.kernels", calls.kinds, source=source, method=Method.EXECUTED)

    def release(self) -> None:
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            profiler.__exit__(None, None, None)


def _operations(profiler: Any) -> Iterable[tuple[str, int]]:
    """Stop a profiler and yield each operation's name with the rank of its first input.

    The raw results are read, because building the event tree costs many times the step it describes.
    """
    profiler.__exit__(None, None, None)
    for event in profiler.kineto_results.events():
        shapes = event.shapes()
        yield event.name(), len(shapes[0]) if shapes else 0


def count_families(operations: Iterable[tuple[str, int]]) -> Tally:
    """Return calls by family from ``(operation name, rank of its first input)``.

    Eager attention has no operation of its own: it is a softmax over a four-dimensional score tensor that no fused
    kernel called, (batch, heads, queries, keys). A router's softmax has two dimensions, a loss uses log-softmax.
    """
    counts: Counter[str] = Counter()
    softmaxes = 0
    for name, dimensions in operations:
        if name == "aten::_softmax" and dimensions == 4:
            softmaxes += 1
        if "backward" in name or name.startswith("autograd::"):
            continue
        family = next((family for family, parts in FAMILIES if any(part in name for part in parts)), None)
        if family is not None:
            counts[family] += 1
    counts["eager"] += max(softmaxes - counts["math"], 0)
    return Tally.count("calls", {family: count for family, count in counts.items() if count})
