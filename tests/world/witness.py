"""Runs one training script and prints what it did, measured by other means than those under test.

    PYTHONPATH=src/affidavit/demo/scripts python tests/world/witness.py tests/world/plain_loop/fault.py

The numbers in README.md come from here: executed kernels from torch.profiler over the second forward, the lit
tokens from the labels that the model was given, adapters from the parameters, their gradients and their values.
"""

import collections
import re
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.profiler import ProfilerActivity, profile
from transformers import PreTrainedTokenizerBase

KERNELS = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": "fused",
    "aten::_scaled_dot_product_attention_math": "sdpa math",
    "aten::_softmax": "softmax",
    "aten::bmm": "bmm",
}
TURN_STARTS, TURN_ENDS = ("<|turn>", "<|im_start|>"), ("<turn|>", "<|im_end|>")


class Witness:
    """What was seen, from the first training forward to the end of the script."""

    def __init__(self) -> None:
        self.model = None
        self.tokenizer = None
        self.forwards = 0
        self.busy = False
        self.lit = collections.Counter()
        self.total = collections.Counter()
        self.before = {}

    def watch(self) -> None:
        """Wrap the three places that every script passes."""
        call, render = torch.nn.Module.__call__, PreTrainedTokenizerBase.apply_chat_template

        def watched_call(module, *args, **kwargs):
            labels = kwargs.get("labels")
            if labels is None or self.busy or not module.training:
                return call(module, *args, **kwargs)
            self.busy, self.model = True, module
            self.forwards += 1
            self.count(kwargs)
            try:
                if self.forwards != 2:
                    return call(module, *args, **kwargs)
                with profile(activities=[ProfilerActivity.CPU]) as seen:
                    result = call(module, *args, **kwargs)
                found = {KERNELS[row.key]: row.count for row in seen.key_averages() if row.key in KERNELS}
                say("executed", found)
                return result
            finally:
                self.busy = False

        def watched_render(tokenizer, *args, **kwargs):
            self.tokenizer = tokenizer
            return render(tokenizer, *args, **kwargs)

        torch.nn.Module.__call__ = watched_call
        PreTrainedTokenizerBase.apply_chat_template = watched_render
        register_optimizer_step_pre_hook(self.first_step)

    def count(self, batch: dict) -> None:
        """Add the tokens of one batch, by the heading of the turn they stand in."""
        for ids, labels, seen in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True):
            role, heading = "template", None
            for position, token in enumerate(self.tokenizer.convert_ids_to_tokens(ids.tolist())):
                on = int(labels[position] != -100)
                if on and labels[position] != ids[position]:
                    raise SystemExit("a label that is not its own token")
                kind = role if heading is None and token not in TURN_STARTS else "template"
                kind = kind if seen[position] else "padding"
                self.total[kind] += 1
                self.lit[kind] += on
                if token in TURN_STARTS:
                    heading = ""
                elif token in TURN_ENDS:
                    role = "template"
                elif heading is not None:
                    heading += token
                    if heading.endswith("Ċ"):
                        role, heading = heading.removesuffix("Ċ"), None

    def first_step(self, optimizer, args, kwargs) -> None:
        """At the first optimizer step: the configured attention, and who owns which adapter."""
        if self.before:
            return
        named = dict(self.model.named_parameters())
        owned = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        layers = [module for name, module in self.model.named_modules() if name.endswith("self_attn")]
        say("configured", collections.Counter(layer.config._attn_implementation for layer in layers))
        adapters = {name: tensor for name, tensor in named.items() if "lora_" in name}
        self.before = {name: tensor.detach().clone() for name, tensor in (adapters or named).items()}
        say("trainable", sum(tensor.numel() for tensor in named.values() if tensor.requires_grad))
        if adapters:
            modules = (re.search(r"(\w+)\.lora_A", name) for name in adapters)
            say("adapted", collections.Counter(match.group(1) for match in modules if match))
            say("adapter tensors", len(adapters))
            say("adapter tensors with requires_grad", sum(t.requires_grad for t in adapters.values()))
            say("adapter tensors in the optimizer", sum(id(t) in owned for t in adapters.values()))

    def end(self) -> None:
        """After the script: which tensors moved, and the census of the labels."""
        now = dict(self.model.named_parameters())
        moved = sum(not torch.equal(tensor, now[name]) for name, tensor in self.before.items())
        say("moved", f"{moved} of {len(self.before)} tensors")
        say("lit", {role: f"{self.lit[role]} of {total}" for role, total in self.total.items()})


def say(what: str, value) -> None:
    """One line that stands out from the progress bars."""
    print(f"\nwitness: {what}: {dict(value) if isinstance(value, dict) else value}", flush=True)


if __name__ == "__main__":
    witness = Witness()
    witness.watch()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    witness.end()
