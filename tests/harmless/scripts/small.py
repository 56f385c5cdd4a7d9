"""Six steps of a small adapted model with a tokenizer at hand: every instrument has something to read.

What goes wrong is told by the first argument; prints what came out and how long the slowest step took.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import torch
from witnessed import seed, told

STEPS = 6


class Net(torch.nn.Module):
    """Takes labels, holds attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(64, 16)
        self.head = torch.nn.Linear(16, 64)

    def forward(self, input_ids, labels):
        state = self.embed(input_ids)[:, None]
        state = torch.nn.functional.scaled_dot_product_attention(state, state, state)[:, 0]
        return torch.nn.functional.cross_entropy(self.head(state).flatten(0, 1), labels.flatten())


class Talkative(Net):
    """Whoever looks at its modules, or prints it, while it trains is told off."""

    trains = False

    def named_modules(self, *args, **kwargs):
        if self.trains:
            raise RuntimeError("looked through")
        return super().named_modules(*args, **kwargs)

    def __repr__(self):
        raise RuntimeError("printed")


class Odd(Net):
    """Its calls take what nobody expects."""

    def forward(self, *inputs, **more):
        return super().forward(*inputs, **{key: value for key, value in more.items() if key == "labels"})


class Held:
    """Neither a tensor nor anything that can be looked at."""

    def __getattribute__(self, name):
        raise RuntimeError("touched")


def spool() -> Path:
    return Path(os.environ["AFFIDAVIT_LAUNCH"]).parent if "AFFIDAVIT_LAUNCH" in os.environ else Path("nowhere")


def remove_spool() -> None:
    shutil.rmtree(spool(), ignore_errors=True)


def fill_disk() -> None:
    """Take all room that is left where the spool lies, as somebody else's data would."""
    if not spool().exists():
        return
    try:
        with (spool() / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(b"0" * 4096)
    except OSError:
        return


def ring() -> list:
    """Use the alarm, as scripts with a time limit of their own do; return what rang."""
    rung = []
    signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    return rung


MODELS = {"talkative": Talkative, "odd": Odd}


def adapted(net: torch.nn.Module) -> torch.nn.Module:
    """Wrap the model where peft is at hand."""
    if "peft" not in sys.modules:
        return net
    from peft import LoraConfig, get_peft_model

    return get_peft_model(net, LoraConfig(r=2, target_modules=["head"]))


def main(fault: str = "") -> None:
    torch.set_num_threads(1)
    tokenizer = None
    if "transformers" in sys.modules:
        import tiny

        tokenizer = tiny.build_tokenizer()
    seed()
    net = adapted(MODELS.get(fault, Net)())
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    rung = ring() if fault == "alarm" else None
    if fault == "removed before":
        remove_spool()
    Talkative.trains = True
    losses, slowest, begun = [], 0.0, time.monotonic()
    batches = torch.utils.data.DataLoader(torch.randint(64, (2 * STEPS, 8)), batch_size=2)
    for step, ids in enumerate(batches, 1):
        at = time.monotonic()
        if step == 2:
            {"removed in step 2": remove_spool, "full in step 2": fill_disk}.get(fault, lambda: None)()
        if fault == "odd":
            loss = net(ids, labels=ids, held=Held(), attention_mask="no mask", input_ids_of_another_kind=[[]])
        elif fault == "ragged labels":
            loss = net(input_ids=ids, labels=ids.flatten())
        else:
            loss = net(input_ids=ids, labels=ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        slowest = max(slowest, time.monotonic() - at)
    Talkative.trains = False
    if rung is not None:
        while len(rung) < 3:
            time.sleep(0.01)
        signal.setitimer(signal.ITIMER_REAL, 0)
    said = told(net, losses)
    said["told"] = {"slowest": slowest, "all": time.monotonic() - begun}
    said["alarm"] = repr(signal.getsignal(signal.SIGALRM)).partition(" at ")[0], signal.getitimer(signal.ITIMER_REAL)
    said["left"] = bool(rung), tokenizer is not None, net.__dict__.get("_compiled_call_impl") is None
    said["hooks"] = sum(len(module._forward_pre_hooks) for module in torch.nn.Module.modules(net))
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
