"""Six steps of each way to compile a model, with a backend that counts; prints graphs, breaks and calls by step."""

import gc
import json
import sys

import torch
from torch._dynamo.utils import counters
from witnessed import seed, told

STEPS = 6
calls = [0]


def counting(graph: torch.fx.GraphModule, inputs: list):
    def run(*arguments):
        calls[0] += 1
        return graph.forward(*arguments)

    return run


class Net(torch.nn.Module):
    """An embedding, attention, dropout and a head; it takes what a language model takes."""

    def __init__(self, breaks: bool = False) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(32, 16)
        self.drop = torch.nn.Dropout(0.1)
        self.mix = torch.nn.Linear(16, 16)
        self.head = torch.nn.Linear(16, 32)
        self.breaks = breaks

    def forward(self, input_ids, labels):
        state = self.drop(self.embed(input_ids))[:, None]
        state = torch.nn.functional.scaled_dot_product_attention(state, self.mix(state), state)[:, 0]
        if self.breaks:
            torch._dynamo.graph_break()
        return torch.nn.functional.cross_entropy(self.head(state).flatten(0, 1), labels.flatten())


def batch(width: int = 8) -> dict:
    ids = torch.randint(32, (2, width))
    return {"input_ids": ids, "labels": ids}


def train(net, call, *, widths=(8,) * STEPS, compile_step=False) -> dict:
    """Run the loop; what is told of each step is what the compiler did in it."""
    seed()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    step = torch.compile(optimizer.step, backend=counting) if compile_step else optimizer.step
    losses, seen, frames = [], [], []
    for width in widths:
        calls[0] = 0
        loss = call(**batch(width))
        loss.backward()
        step()
        optimizer.zero_grad()
        losses.append(loss.item())
        seen.append([calls[0], counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())])
        frames.append(counters["frames"]["total"])
    calls[0] = 0
    losses.append(call(**batch(widths[-1])).item())
    return told(net, losses) | {"compiler": seen, "frames": frames, "compiled calls afterwards": calls[0]}


def wrapped(**options):
    net = Net()
    return net, torch.compile(net, backend=counting, **options)


def in_place(**options):
    net = Net()
    net.compile(backend=counting, **options)
    return net, net


def around(**options):
    net = Net()
    return net, torch.compile(lambda **inputs: net(**inputs), backend=counting, **options)


def inside():
    """Only a part of the model is compiled, as in regional compilation."""
    net = Net()
    net.mix = torch.compile(net.mix, backend=counting)
    return net, net


def broken():
    net = Net(breaks=True)
    return net, torch.compile(net, backend=counting)


def whole_step():
    """Forward, backward and loss in one compiled function with the model as its argument."""
    net = Net()

    def step(model, input_ids, labels):
        return model(input_ids=input_ids, labels=labels) * 1.0

    compiled = torch.compile(step, backend=counting, fullgraph=True)
    return net, lambda **inputs: compiled(net, **inputs)


def uncompiled():
    net = Net()
    return net, net


GROWING = (8, 9, 10, 11, 12, 13)
CASES = {
    "uncompiled": (uncompiled, {}),
    "wrapped": (wrapped, {}),
    "wrapped fullgraph": (lambda: wrapped(fullgraph=True), {}),
    "in place": (in_place, {}),
    "in place fullgraph": (lambda: in_place(fullgraph=True), {}),
    "function around": (around, {}),
    "function around fullgraph": (lambda: around(fullgraph=True), {}),
    "whole step": (whole_step, {}),
    "a part": (inside, {}),
    "with a break": (broken, {}),
    "compiled optimizer": (wrapped, {"compile_step": True}),
    "recompiles in step 2": (wrapped, {"widths": GROWING}),
    "recompiles in step 2, in place fullgraph": (lambda: in_place(fullgraph=True), {"widths": GROWING}),
    "recompiles in step 2, function around": (lambda: around(fullgraph=True), {"widths": GROWING}),
    "recompiles in step 3": (wrapped, {"widths": (8, 8, 9, 10, 10, 10)}),
    "dynamic": (lambda: wrapped(dynamic=True), {"widths": GROWING}),
    "uncompiled, after others": (uncompiled, {}),
}


def main() -> None:
    said = {}
    for name in sys.argv[1:] or CASES:
        build, how = CASES[name]
        torch._dynamo.reset()
        counters.clear()
        seed(3)
        net, call = build()
        said[name] = train(net, call, **how)
        del net, call
        gc.collect()
    print(json.dumps(said))


if __name__ == "__main__":
    main()
