"""Kernel families are counted from the names of operations: the kernel, not who calls it, forward and not backward."""

from __future__ import annotations

import pytest

from affidavit.attach.moment import Operation
from affidavit.instruments.attention import count_families

SCORES = (2, 4, 8, 8)
QUERY = (2, 4, 8, 16)


def _ran(*names: str, sizes: tuple[int, ...] = QUERY) -> str:
    return str(count_families([Operation(name, sizes, "float") for name in names]))


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"), "1 flash"),
        (("aten::_scaled_dot_product_flash_attention_for_cpu",), "1 flash"),
        (("flash_attn::_flash_attn_forward",), "1 flash"),
        (("flash_attn::_flash_attn_varlen_forward",), "1 flash"),
        (("vllm_flash_attn3::fwd", "flash_attn_3::fwd"), "2 flash"),
        (("aten::_scaled_dot_product_efficient_attention",), "1 efficient"),
        (("xformers::efficient_attention_forward_cutlass",), "1 efficient"),
        (("aten::_scaled_dot_product_cudnn_attention",), "1 cudnn"),
        (("aten::_scaled_dot_product_attention_math", "aten::_softmax"), "1 math"),
        (("aten::_scaled_dot_product_attention_math", "aten::_safe_softmax"), "1 math"),
        (("aten::_softmax", "aten::_softmax"), "2 eager"),
        (("flex_attention",), "1 flex"),
    ],
)
def test_each_kernel_has_its_family(names: tuple[str, ...], family: str) -> None:
    assert _ran(*names) == family


@pytest.mark.parametrize(
    "names",
    [
        ("aten::scaled_dot_product_attention",),
        ("aten::_scaled_dot_product_flash_attention_backward",),
        ("aten::_scaled_dot_product_flash_attention_for_cpu_backward",),
        ("ScaledDotProductFlashAttentionForCpuBackward0",),
        ("aten::_softmax_backward_data", "SoftmaxBackward0"),
        ("aten::_log_softmax", "aten::linear", "aten::bmm"),
        (),
    ],
)
def test_what_is_no_forward_kernel_is_not_counted(names: tuple[str, ...]) -> None:
    assert _ran(*names) == "no calls"


def test_a_softmax_that_is_no_attention_is_not_counted() -> None:
    assert _ran("aten::_softmax", sizes=(8, 64)) == "no calls"
    assert _ran("aten::_softmax", sizes=(2, 8, 64)) == "no calls"


def test_what_a_compiler_tried_without_data_is_not_counted() -> None:
    assert _ran("aten::_scaled_dot_product_flash_attention", sizes=()) == "no calls"


def test_two_kernels_in_one_model_are_both_told() -> None:
    """A hybrid model runs two by design, and one layer in another kernel is what a check looks for."""
    flash = [Operation("aten::_scaled_dot_product_flash_attention", QUERY, "float")] * 3
    math = [Operation("aten::_scaled_dot_product_attention_math", QUERY, "float")]
    softmaxes = [Operation("aten::_softmax", SCORES, "float")] * 2
    assert str(count_families([*flash, *math, *softmaxes])) == "1 eager, 3 flash, 1 math"
