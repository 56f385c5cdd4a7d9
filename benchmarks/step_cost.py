"""What a step of the user's loop pays once the sampled step is over: a plain loop, and a Trainer.

python benchmarks/step_cost.py [PAIRS_OF_BLOCKS]

One process runs both: blocks of steps with our hooks in place, and blocks from which they were taken out, in turn. The
audit hook cannot be taken out; what it costs is measured apart, from the audit events of a step. The model is so small
that the step is little else than the loop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import SITE, median, write

from affidavit.attach import early
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names

BLOCK = 25
WARM_UP = 50
MICROSECONDS = 1e6


class Clock:
    """Times steps, and says of each whether our hooks were in place."""

    def __init__(self, blocks: int, toggle: Callable[[bool], None]) -> None:
        self.steps = WARM_UP + 2 * blocks * BLOCK
        self.times: dict[str, list[float]] = {"bare": [], "observed": []}
        self._toggle = toggle
        self._step = 0
        self._last = 0.0
        self._kind = "observed"

    def tick(self) -> None:
        """Take the time of the step that is over; between two blocks, change sides."""
        now = time.perf_counter()
        self._step += 1
        if self._step > WARM_UP + 1 and (self._step - WARM_UP - 1) % BLOCK:
            self.times[self._kind].append(now - self._last)
        if self._step > WARM_UP and not (self._step - WARM_UP - 1) % BLOCK:
            self._kind = "bare" if self._kind == "observed" else "observed"
            self._toggle(self._kind == "observed")
        self._last = time.perf_counter()


@contextmanager
def _counted_events() -> Iterator[list[int]]:
    count = [0]
    switch = [True]

    def hook(event: str, args: object) -> None:
        if switch[0]:
            count[0] += 1

    sys.addaudithook(hook)
    yield count
    switch[0] = False


def plain(blocks: int) -> dict[str, object]:
    import torch
    from torch.optim import optimizer as module

    hooks = [
        (place, dict(place)) for place in (module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks)
    ]
    assert all(found for _, found in hooks), "nothing of ours is there to be measured"

    def toggle(is_observed: bool) -> None:
        for place, found in hooks:
            place.clear()
            place.update(found if is_observed else {})

    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    rows = torch.rand(4, 8)
    clock = Clock(blocks, toggle)

    def step() -> None:
        optimizer.zero_grad()
        net(rows).sum().backward()
        optimizer.step()
        clock.tick()

    for _ in range(clock.steps):
        step()
    with _counted_events() as events:
        for _ in range(BLOCK):
            step()
    return {**clock.times, "events_a_step": events[0] / BLOCK}


def trainer(blocks: int) -> dict[str, object]:
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)

        def forward(self, rows: Any, labels: Any) -> dict[str, Any]:
            return {"loss": (self.layer(rows) - labels).pow(2).mean()}

    class Ticking(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *arguments: Any, **live: Any) -> None:
            clock.tick()

    with tempfile.TemporaryDirectory() as place:
        rows = [{"rows": torch.rand(8), "labels": torch.rand(8)} for _ in range(8)]
        asked = {"output_dir": place, "report_to": "none", "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
        built: Any = Trainer(
            model=Net(),
            args=TrainingArguments(logging_strategy="no", max_steps=WARM_UP + 2 * blocks * BLOCK, **asked),
            train_dataset=rows,
            callbacks=[Ticking],
        )
        handler = built.callback_handler
        ours = [callback for callback in handler.callbacks if type(callback).__name__ == "AffidavitCallback"]
        assert ours, "nothing of ours is there to be measured"
        others = [callback for callback in handler.callbacks if callback not in ours]
        both = list(handler.callbacks)
        clock = Clock(
            blocks, lambda is_observed: handler.callbacks.__setitem__(slice(None), both if is_observed else others)
        )
        with _counted_events() as events:
            built.train()
    return {**clock.times, "events_a_step": events[0] / clock.steps}


def _measured(kind: str, blocks: int) -> dict[str, Any]:
    """Run one kind of loop in a process that is attached as by the command."""
    with tempfile.TemporaryDirectory() as place:
        launch = names.launch(Path(place), 0)
        Launch(run="b", folder=place, spool=place).write(launch)
        environment = {**os.environ, "PYTHONPATH": str(SITE), VARIABLE: str(launch), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, kind, str(blocks)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert list(names.journals(Path(place))), "this process was not observed"
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def _audit_seconds() -> float:
    """Return what one audit event costs where the listing is closed, beyond the call of an empty function."""
    listing = early.Listing(str(SITE))
    listing.close()
    hook, arguments, times = listing.hook, (), []
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(10_000):
            hook("object.__getattr__", arguments)
        times.append((time.perf_counter() - begun) / 10_000)
    return median(times)


def main(blocks: int = 20) -> int:
    audit = _audit_seconds()
    raw, found, promised = {}, {"audit_event_microseconds": audit * MICROSECONDS}, {}
    for kind in ("plain", "trainer"):
        raw[kind] = _measured(kind, blocks)
        bare, observed = median(raw[kind]["bare"]), median(raw[kind]["observed"])
        events = raw[kind]["events_a_step"] * audit
        found[f"{kind}_step_microseconds"] = bare * MICROSECONDS
        found[f"{kind}_added_microseconds"] = (observed - bare + events) * MICROSECONDS
        found[f"{kind}_audit_microseconds"] = events * MICROSECONDS
        promised[f"{kind}_added_microseconds"] = 20.0
    return write("step_cost", promised=promised, found=found, raw=raw)


if __name__ == "__main__":
    if sys.argv[1:2] in (["plain"], ["trainer"]):
        sys.stdout.write(json.dumps({"plain": plain, "trainer": trainer}[sys.argv[1]](int(sys.argv[2]))) + "\n")
    else:
        sys.exit(main(*map(int, sys.argv[1:])))
