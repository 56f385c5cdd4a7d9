"""Trains after laying hands on Transformers and TRL as source patchers do; one case a process, or a fork of one.

``patched.py CASE`` runs one and prints what came out; ``patched.py each`` runs all, each in a fork, into files.
"""

import functools
import importlib
import inspect
import json
import os
import sys
import textwrap
import types
from pathlib import Path

import tiny
import torch
import transformers
import trl
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_utils import PreTrainedModel
from transformers.trainer_callback import DefaultFlowCallback
from witnessed import seed, told

STEPS = 4


def settings(folder: Path) -> dict:
    return tiny.training_settings(folder) | {"max_steps": STEPS, "disable_tqdm": True}


def sft(folder: Path, change=lambda trainer: None) -> dict:
    """Train with whatever ``trl.SFTTrainer`` is now."""
    torch.set_num_threads(1)
    base = tiny.write_base(folder)
    seed()
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    trainer = trl.SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=trl.SFTConfig(assistant_only_loss=True, **settings(folder)),
        peft_config=LoraConfig(task_type="CAUSAL_LM", r=4, lora_dropout=0.1, target_modules=["q_proj"]),
    )
    change(trainer)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return told(trainer.model, losses) | {"source": sources()}


def sources() -> list:
    """What a patcher that comes after this one would read."""
    watched = (transformers.Trainer.train, transformers.Trainer._inner_training_loop, PreTrainedModel.from_pretrained)
    return [[str(inspect.signature(item)), readable(item)] for item in watched]


def readable(item) -> int:
    """Return how long an object's source is, 0 where there is none to be read."""
    try:
        return len(inspect.getsource(item))
    except OSError:
        return 0


def plain_patch(folder: Path) -> dict:
    """Read the loop's source, change it, execute it in the module's names, put it back."""
    loop = transformers.Trainer._inner_training_loop
    source = textwrap.dedent(inspect.getsource(loop)).replace("def _inner_training_loop", "def faster_loop", 1)
    names = dict(vars(importlib.import_module("transformers.trainer")))
    exec(compile(source, "<patched>", "exec"), names)
    transformers.Trainer._inner_training_loop = names["faster_loop"]
    return sft(folder)


def class_replaced(folder: Path) -> dict:
    """Execute the source of SFTTrainer again under another name and put that in the package."""
    trl.SFTTrainer = _again(trl.trainer.sft_trainer, "SFTTrainer", {})
    return sft(folder)


def callbacks_replaced(folder: Path) -> dict:
    """The Trainer's source again, with callbacks of the patcher's own choice."""
    chosen = {"DEFAULT_CALLBACKS": [DefaultFlowCallback]}
    replaced = _again(importlib.import_module("transformers.trainer"), "Trainer", chosen)
    transformers.Trainer = importlib.import_module("transformers.trainer").Trainer = replaced
    base = _again(importlib.import_module("trl.trainer.base_trainer"), "_BaseTrainer", {"Trainer": replaced})
    trl.SFTTrainer = _again(trl.trainer.sft_trainer, "SFTTrainer", {"_BaseTrainer": base})
    return sft(folder)


def _again(module: types.ModuleType, name: str, changed: dict) -> type:
    names = dict(vars(module)) | changed
    exec(compile(inspect.getsource(vars(module)[name]), "<patched>", "exec"), names)
    return names[name]


def callbacks_removed(folder: Path) -> dict:
    """The handler's list is emptied after the Trainer is built."""

    def change(trainer) -> None:
        trainer.callback_handler.callbacks = [DefaultFlowCallback()]

    return sft(folder, change)


def forward_on_class(folder: Path) -> dict:
    """The forward of every norm and of the model is another function, as fused kernels do it."""
    for name in ("Gemma4RMSNorm", "Gemma4ForCausalLM"):
        kind = getattr(importlib.import_module("transformers.models.gemma4.modeling_gemma4"), name)
        kind.forward = _passing(kind.forward)
    return sft(folder)


def forward_on_instance(folder: Path) -> dict:
    def change(trainer) -> None:
        inner = trainer.model.base_model.model
        forward = inner.forward  # TRL has put one of its own there already
        inner.forward = lambda *args, **kwargs: forward(*args, **kwargs)

    return sft(folder, change)


def _passing(forward):
    @functools.wraps(forward)
    def passed(self, *args, **kwargs):
        return forward(self, *args, **kwargs)

    return passed


def resolution_again(folder: Path) -> dict:
    """The function through which attention requests are heard is executed again from its source."""
    name = "_check_and_adjust_attn_implementation"
    source = textwrap.dedent(inspect.getsource(getattr(PreTrainedModel, name)))
    names = dict(vars(importlib.import_module("transformers.modeling_utils")))
    exec(compile(source, "<patched>", "exec"), names)
    setattr(PreTrainedModel, name, names[name])
    return sft(folder)


def resolution_wrapped(folder: Path) -> dict:
    """It is wrapped, and still called."""
    name = "_check_and_adjust_attn_implementation"
    setattr(PreTrainedModel, name, _passing(getattr(PreTrainedModel, name)))
    return sft(folder)


def train_wrapped(folder: Path) -> dict:
    transformers.Trainer.train = _passing(transformers.Trainer.train)
    transformers.Trainer.training_step = _passing(transformers.Trainer.training_step)
    return sft(folder)


def subclass(folder: Path) -> dict:
    """A Trainer of the user's own, as most are."""

    class Mine(trl.SFTTrainer):
        def compute_loss(self, *args, **kwargs):
            return super().compute_loss(*args, **kwargs)

    trl.SFTTrainer = Mine
    return sft(folder)


def copied(folder: Path) -> dict:
    """Trainers are pickled and copied by those who send them to workers."""
    import copy
    import pickle

    def change(trainer) -> None:
        for callback in trainer.callback_handler.callbacks:
            assert isinstance(pickle.loads(pickle.dumps(callback)), transformers.TrainerCallback)
            assert isinstance(copy.deepcopy(callback), transformers.TrainerCallback)

    return sft(folder, change)


CASES = {
    "nothing": sft,
    "loop from source": plain_patch,
    "class from source": class_replaced,
    "callbacks replaced": callbacks_replaced,
    "callbacks removed": callbacks_removed,
    "forward on class": forward_on_class,
    "forward on instance": forward_on_instance,
    "resolution from source": resolution_again,
    "resolution wrapped": resolution_wrapped,
    "train wrapped": train_wrapped,
    "subclass": subclass,
    "copied": copied,
}


def each() -> None:
    """Run every case in a fork of this process and write what it said beside the others."""
    for name in CASES:
        child = os.fork()
        if not child:
            sys.stdout.flush()
            folder = Path(name.replace(" ", "-"))
            Path(f"{folder}.json").write_text(json.dumps(CASES[name](folder)))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, name
    print(json.dumps({name: json.loads(Path(name.replace(" ", "-") + ".json").read_text()) for name in CASES}))


if __name__ == "__main__":
    if sys.argv[1] == "each":
        each()
    else:
        print(json.dumps(CASES[sys.argv[1]](Path("out"))))
