"""Which module trains, through which it is called, and what one traced step executed."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import torch

from affidavit.adapters.torch import trace
from affidavit.adapters.torch.compiler import is_called_inside, is_wrapped
from affidavit.adapters.torch.modules import called, find_model


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layer(rows)
        return result


class Wrapper(torch.nn.Module):
    """Is called in the place of what it wraps, as parallel and compiled models are."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.module(rows)
        return result


class Pair(torch.nn.Module):
    """Holds a model beside another, and is not what a loop calls."""

    def __init__(self, policy: torch.nn.Module, reference: torch.nn.Module) -> None:
        super().__init__()
        self.policy = policy
        self.reference = reference


def _optimizer(module: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(module.parameters(), lr=0.1)


def test_the_model_is_the_outermost_that_owns_the_parameters() -> None:
    other, net = Net(), Net()
    wrapped = Wrapper(net)
    assert find_model(_optimizer(net)) is wrapped
    assert find_model(_optimizer(other)) is other


def test_parameters_without_a_module_have_no_model() -> None:
    assert find_model(torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)) is None


def test_finding_keeps_nothing_alive() -> None:
    net = Net()
    optimizer = _optimizer(net)
    assert find_model(optimizer) is net
    before = len(gc.get_referrers(net))
    find_model(optimizer)
    called(net)
    assert len(gc.get_referrers(net)) == before


def test_wrappers_are_called_in_the_place_of_the_model() -> None:
    net = Net()
    outer = Wrapper(Wrapper(net))
    assert called(net) is outer
    assert called(outer) is outer


def test_a_container_is_not_called_and_what_trains_in_it_is() -> None:
    frozen, net = Net().requires_grad_(False), Net()
    assert called(torch.nn.ModuleList([frozen, net])) is net
    assert called(Pair(net, frozen)) is net
    assert called(net) is net, "a holder of two is no wrapper"


def test_a_module_that_holds_itself_ends_the_search() -> None:
    net = Net()
    first, second = Wrapper(net), Wrapper(net)
    object.__setattr__(second, "_modules", {"module": first})
    object.__setattr__(first, "_modules", {"module": second})
    assert called(first) in (first, second)
    assert find_model(_optimizer(net)) is net


def _same(graph: Any, inputs: Any) -> Any:
    return graph.forward


def test_a_model_inside_of_a_compiled_function_is_left_alone() -> None:
    torch._dynamo.reset()
    torch._dynamo.utils.clear_compilation_metrics()
    inside, outside, wrapped, placed = Net(), Net(), Net(), Net()
    rows = torch.ones(2, 4)
    helper = torch.compile(lambda rows: rows * 2, backend=_same)
    helper(rows)
    assert not is_called_inside(inside), "a helper without parameters calls no model"
    torch.compile(lambda rows: inside(rows), backend=_same)(rows)
    assert is_called_inside(inside)
    assert is_called_inside(outside), "it may have been this one"
    compiled = torch.compile(wrapped, backend=_same)
    placed.compile(backend=_same)
    assert is_wrapped(compiled) and is_wrapped(placed) and not is_wrapped(wrapped)
    assert not is_called_inside(compiled) and not is_called_inside(placed)
    torch._dynamo.reset()


HEAD = '{\n  "schema": "1", "nodes": [\n'
TAIL = '  ],\n  "finish_ts": 12\n}\n'


def _node(number: int, name: str, caller: int, sizes: str = "[2,4,8,16]", kind: str = "Tensor(float)") -> str:
    return (
        f'      {{\n        "id": {number}, "name": "{name}", "ctrl_deps": {caller},\n'
        f'        "inputs": {{"values": [[1,2,0,3,4,"cpu"]], "shapes": [{sizes},[]], "types": ["{kind}","Int"], '
        '"strides": [[],[]]},\n        "outputs": {"values": [], "shapes": [], "types": [], "strides": []}\n      },\n'
    )


def _read(folder: Path, *nodes: str, tail: str = TAIL) -> list[tuple[str, tuple[int, ...], str]]:
    path = folder / "trace.json"
    path.write_text(HEAD + "".join(nodes) + tail)
    return [(operation.name, operation.sizes, operation.type) for operation in trace._operations(path)]


def test_a_trace_is_read_with_sizes_and_types(tmp_path: Path) -> None:
    assert _read(tmp_path, _node(3, "aten::mm", 2), _node(4, "aten::t", 2, "[]", "GenericList[Int]")) == [
        ("aten::mm", (2, 4, 8, 16), "float"),
        ("aten::t", (), "GenericList[Int]"),
    ]


def test_an_operation_that_hands_on_to_itself_is_one(tmp_path: Path) -> None:
    nested = _node(5, "aten::mm", 4), _node(6, "aten::t", 4), _node(4, "aten::mm", 3), _node(3, "aten::linear", 2)
    assert [name for name, _, _ in _read(tmp_path, *nested)] == ["aten::mm", "aten::t", "aten::linear"]
    through_mode = _node(6, "aten::mm", 5), _node(5, "PythonDispatchMode", 4), _node(4, "aten::mm", 3)
    assert [name for name, _, _ in _read(tmp_path, *through_mode)] == ["aten::mm"]
    apart = _node(5, "aten::mm", 4), _node(4, "aten::linear", 3), _node(3, "aten::mm", 2)
    assert [name for name, _, _ in _read(tmp_path, *apart)].count("aten::mm") == 2


@pytest.mark.parametrize("tail", ["", '      {\n        "id": 9, "na'])
def test_a_trace_without_its_end_is_refused(tmp_path: Path, tail: str) -> None:
    with pytest.raises(trace._TornError):
        _read(tmp_path, _node(3, "aten::mm", 2), tail=tail)


def test_a_real_trace_tells_two_kernels_apart(tmp_path: Path) -> None:
    """The contrast: the same call on two kernels."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from affidavit.instruments.attention import count_families

    query = torch.ones(1, 2, 8, 16)
    found = []
    for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
        path = tmp_path / f"{backend.name}.json"
        with sdpa_kernel(backend), trace._quiet():
            torch._C._profiler._add_execution_trace_observer(str(path))
            torch._C._profiler._enable_execution_trace_observer()
            torch.nn.functional.scaled_dot_product_attention(query, query, query)
            torch._C._profiler._disable_execution_trace_observer()
            torch._C._profiler._remove_execution_trace_observer()
        found.append(str(count_families(tuple(trace._operations(path)))))
    assert found == ["1 math", "1 flash"]
