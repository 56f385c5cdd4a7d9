"""The run's own recorders around, in and across the second step, in every way; prints what they recorded."""

import collections
import gc
import json
import sys
import warnings
from pathlib import Path

import tiny
import torch
from peft import LoraConfig, get_peft_model
from torch.autograd.profiler import profile as plain_profile
from torch.overrides import TorchFunctionMode
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, schedule
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
from witnessed import seed, told

STEPS = 6
CPU = [ProfilerActivity.CPU]


class Net(torch.nn.Module):
    """Takes labels, holds attention: every instrument has something to read."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(32, 16)
        self.head = torch.nn.Linear(16, 32)

    def forward(self, input_ids, labels):
        state = self.embed(input_ids)[:, None]
        state = torch.nn.functional.scaled_dot_product_attention(state, state, state)[:, 0]
        return torch.nn.functional.cross_entropy(self.head(state).flatten(0, 1), labels.flatten())


class Loop:
    """One plain loop, with a place for the user's recorder in each phase of a step."""

    def __init__(self) -> None:
        seed()
        self.net = get_peft_model(Net(), LoraConfig(r=2, target_modules=["head"]))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.losses = []

    def forward(self) -> torch.Tensor:
        ids = torch.randint(32, (2, 8))
        return self.net(input_ids=ids, labels=ids)

    def backward(self, loss: torch.Tensor) -> None:
        loss.backward()

    def update(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad()

    def step(self) -> None:
        loss = self.forward()
        self.backward(loss)
        self.update()
        self.losses.append(loss.item())

    def told(self, seen: object) -> dict:
        return told(self.net, self.losses) | {"seen": seen}


def events(profiler) -> dict:
    """Return how often each operation was recorded."""
    found = profiler.function_events if isinstance(profiler, plain_profile) else profiler.events()
    return dict(sorted(collections.Counter(event.name for event in found).items()))


def everything() -> dict:
    loop = Loop()
    with profile(activities=CPU, record_shapes=True) as seen:
        for _ in range(STEPS):
            loop.step()
    return loop.told(events(seen))


def scheduled(wait: int, warmup: int, active: int, repeat: int = 0) -> dict:
    loop, found = Loop(), []
    plan = schedule(wait=wait, warmup=warmup, active=active, repeat=repeat)
    with profile(activities=CPU, schedule=plan, on_trace_ready=lambda seen: found.append(events(seen))) as seen:
        for _ in range(STEPS):
            loop.step()
            seen.step()
    return loop.told(found)


def in_step_2(phase: str, recorder) -> dict:
    """The run starts a recorder of its own inside of the sampled step, around one phase of it."""
    loop = Loop()
    found = []
    for number in range(1, STEPS + 1):
        if number != 2:
            loop.step()
            continue
        with recorder() as seen:
            loss = loop.forward()
            if phase != "forward":
                loop.backward(loss)
        if phase == "forward":
            loop.backward(loss)
        loop.update()
        loop.losses.append(loss.item())
        found.append(seen)
    return loop, found[0]


def profiler_in_step_2(phase: str) -> dict:
    loop, seen = in_step_2(phase, lambda: profile(activities=CPU))
    return loop.told(events(seen))


def autograd_profiler_in_step_2() -> dict:
    loop, seen = in_step_2("backward", lambda: plain_profile(use_kineto=True))
    return loop.told(events(seen))


def across_steps() -> dict:
    """Begins between the forward of step 2 and its backward, ends in step 3."""
    loop = Loop()
    loop.step()
    loss = loop.forward()
    seen = profile(activities=CPU)
    seen.start()
    loop.backward(loss)
    loop.update()
    loop.step()
    seen.stop()
    loop.step()
    return loop.told(events(seen))


def memory() -> dict:
    loop = Loop()
    with profile(activities=CPU, profile_memory=True, with_stack=False) as seen:
        for _ in range(3):
            loop.step()
    # "[memory]" is no operation: it stands for every allocation outside of one, a gradient read by us among them.
    sizes = {
        row.key: (row.key == "[memory]" or row.count, row.cpu_memory_usage)
        for row in seen.key_averages()
        if row.cpu_memory_usage
    }
    return loop.told(sizes)


def flops(steps: tuple) -> dict:
    loop, counted = Loop(), []
    for number in range(1, STEPS + 1):
        if number not in steps:
            loop.step()
            continue
        with FlopCounterMode(display=False) as counter:
            loop.step()
        counted.append(counter.get_total_flops())
    return loop.told(counted)


class Dispatched(TorchDispatchMode):
    """Counts every operation that is dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = collections.Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen[str(function)] += 1
        return function(*args, **(kwargs or {}))


class Called(TorchFunctionMode):
    """Counts every function of torch that is called."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = collections.Counter()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen[getattr(function, "__name__", "?")] += 1
        return function(*args, **(kwargs or {}))


def mode(kind: type) -> dict:
    loop = Loop()
    with kind() as recorder:
        for _ in range(3):
            loop.step()
    return loop.told(dict(sorted(recorder.seen.items())))


def own_execution_trace(path: str) -> dict:
    loop = Loop()
    observer = ExecutionTraceObserver().register_callback(path)
    observer.start()
    for _ in range(3):
        loop.step()
    observer.stop()
    observer.unregister_callback()
    nodes = json.loads(Path(path).read_text())["nodes"]
    return loop.told(dict(sorted(collections.Counter(node["name"] for node in nodes).items())))


CASES = {
    "around everything": everything,
    "wait 1, warm-up 1, active 1": lambda: scheduled(1, 1, 1),
    "warm-up in step 2": lambda: scheduled(1, 1, 2),
    "active in step 2": lambda: scheduled(0, 1, 2, 1),
    "begins with step 2": lambda: scheduled(1, 0, 2, 1),
    "ends with step 2": lambda: scheduled(0, 1, 1, 1),
    "over and over": lambda: scheduled(0, 1, 1),
    "warm-up in steps 2 and 3": lambda: scheduled(1, 2, 2, 1),
    "in step 2, forward": lambda: profiler_in_step_2("forward"),
    "in step 2, forward and backward": lambda: profiler_in_step_2("backward"),
    "autograd's profiler in step 2": autograd_profiler_in_step_2,
    "across steps": across_steps,
    "memory": memory,
    "flops of step 2": lambda: flops((2,)),
    "flops of all": lambda: flops((1, 2, 3)),
    "dispatch mode": lambda: mode(Dispatched),
    "function mode": lambda: mode(Called),
    "an execution trace of its own": lambda: own_execution_trace("own.trace.json"),
}


def main() -> None:
    warnings.simplefilter("ignore")
    said = {}
    tokenizer = tiny.build_tokenizer()
    for name in sys.argv[1:] or CASES:
        said[name] = CASES[name]()
        gc.collect()
    del tokenizer
    print(json.dumps(said))


if __name__ == "__main__":
    main()
