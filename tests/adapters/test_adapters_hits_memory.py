"""What joblib remembers although it has changed is told as different; what it computes anew is no hit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import joblib.memory
import pytest
from twodays import SECONDS, Days, World, looked

from affidavit.cache.canary import Sighting, examine


class Memory:
    """One folder, and functions that are memorised as a new process would memorise them."""

    def __init__(self, world: World) -> None:
        self._folder = world.folder / "memory"

    def __call__(self, function: Any, *args: Any, ignore: Any = None) -> Any:
        joblib.memory._FUNCTION_HASHES.clear()
        return joblib.Memory(self._folder, verbose=0).cache(function, ignore=ignore)(*args)


def memory_global(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "K = 1\ndef f(x):\n    return x * K\n")
    yield memory(module.f, 5)
    module.K = 2  # type: ignore[attr-defined]
    yield memory(module.f, 5)


def memory_file(world: World, memory: Memory) -> Days:
    file = world.folder / "k.txt"
    module = world.module(
        "remembered", f"def f(x):\n    with open({str(file)!r}) as file:\n        return file.read()\n"
    )
    for text in ("1", "2"):
        file.write_text(text)
        yield memory(module.f, 5)


def memory_environment(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "import os\ndef f(x):\n    return os.environ['K']\n")
    for value in ("1", "2"):
        os.environ["K"] = value
        yield memory(module.f, 5)


def memory_callee(world: World, memory: Memory) -> Days:
    for lift in ("x", "x + 1"):
        source = f"def lift(x):\n    return {lift}\ndef f(x):\n    return lift(x)\n"
        yield memory(world.module("remembered", source).f, 5)


def memory_closure(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "def make(k):\n    def f(x):\n        return x * k\n    return f\n")
    for k in (1, 2):
        yield memory(module.make(k), 5)


def memory_class(world: World, memory: Memory) -> Days:
    source = "class Policy:\n    K = 1\ndef f(policy):\n    return policy.K\n"
    module = world.module("remembered", source)
    yield memory(module.f, module.Policy())
    module.Policy.K = 2
    yield memory(module.f, module.Policy())


def memory_ignored(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "def f(x, k):\n    return x * k\n")
    for k in (1, 2):
        yield memory(module.f, 5, k, ignore=["k"])


def memory_path(world: World, memory: Memory) -> Days:
    file = world.folder / "data.txt"
    module = world.module("remembered", "def f(path):\n    with open(path) as file:\n        return file.read()\n")
    for text in ("1", "2"):
        file.write_text(text)
        yield memory(module.f, str(file))


MEMORY = (
    memory_global,
    memory_file,
    memory_environment,
    memory_callee,
    memory_closure,
    memory_class,
    memory_ignored,
    memory_path,
)


@pytest.mark.parametrize("row", MEMORY, ids=lambda row: row.__name__)
def test_a_stale_memory_is_different(world: World, row: Callable[[World, Memory], Days]) -> None:
    days = row(world, Memory(world))
    first = next(days)
    assert world.fired == []
    assert next(days) == first
    assert world.fired[0].cache == "joblib.Memory"
    assert looked(world).outcome == "different"
    assert world.fired[0].written > 0


@pytest.mark.filterwarnings("ignore::joblib.memory.JobLibCollisionWarning")
def test_a_memory_that_sees_the_change_is_no_hit(world: World) -> None:
    memory = Memory(world)
    for k in (1, 2):
        assert memory(world.module("remembered", f"def f(x, k={k}):\n    return x * k\n").f, 5) == 5 * k
    assert world.fired == []


def test_a_memory_that_is_asked_often_is_looked_at_seldom(world: World) -> None:
    module = world.module("remembered", "def f(x):\n    return [x, x]\n")
    function = joblib.Memory(world.folder / "memory", verbose=0).cache(module.f)
    for _ in range(101):
        function(3)
    assert len(world.fired) == 7
    assert examine(world.fired[0], seconds=SECONDS) == Sighting(outcome="same", examined=2)
