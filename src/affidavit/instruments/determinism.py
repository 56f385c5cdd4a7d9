"""Determinism: the seed in effect and torch's switches, read when training begins."""

from __future__ import annotations

import sys
from collections.abc import Callable

from affidavit.attach.instrument import Emit, Live, ReadBack, at
from affidavit.attach.moment import TrainBegin
from affidavit.fact.term import Method
from affidavit.fact.values import Table

COLUMNS = ("setting", "value")


class Determinism(ReadBack):
    """Emits the seed of torch's random numbers, and the switches that decide whether a run repeats.

    Source: hf-stack-spike §4; torch 2.13 (an older switch cannot be read once the newer one was set, so it is told as
    "mixed").
    Blind to: the random numbers of numpy and of Python; a sampler with a seed of its own; numbers drawn before.
    """

    name = "determinism"
    emits = ("determinism.seed", "determinism.settings")

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        torch = sys.modules["torch"]
        emit.known("determinism.seed", torch.initial_seed(), source="torch.initial_seed()", method=Method.INSPECTED)
        rows = tuple((setting, _read(read)) for setting, read in _switches(torch).items())
        source = f"torch when {moment.driver} began"
        emit.known("determinism.settings", Table(COLUMNS, rows), source=source, method=Method.INSPECTED)


def _switches(torch: Live) -> dict[str, Callable[[], object]]:
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    return {
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled,
        "deterministic by warning only": torch.is_deterministic_algorithms_warn_only_enabled,
        "cudnn deterministic": lambda: cudnn.deterministic,
        "cudnn benchmark": lambda: cudnn.benchmark,
        "matmul tf32": lambda: cuda.matmul.allow_tf32,
        "convolution tf32": lambda: cudnn.allow_tf32,
        "float32 matmul precision": torch.get_float32_matmul_precision,
        "flash attention": cuda.flash_sdp_enabled,
        "efficient attention": cuda.mem_efficient_sdp_enabled,
        "math attention": cuda.math_sdp_enabled,
        "threads": torch.get_num_threads,
    }


def _read(read: Callable[[], object]) -> str:
    try:
        value = read()
    except RuntimeError:
        return "mixed"
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
