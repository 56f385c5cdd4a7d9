"""L3-35, mended: checkpoints that need no gradient at their input."""

import functools

import tiny
import torch
import torch.utils.checkpoint
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


def checkpointed(forward):
    """Return a layer's forward that keeps its input only, and is run again for its gradients."""

    def call(hidden, *rest, **inputs):
        again = functools.partial(forward, **inputs)
        return torch.utils.checkpoint.checkpoint(again, hidden, *rest, use_reentrant=False)

    return call


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS))
    # To save memory.
    for layer in model.base_model.model.model.layers[:-1]:
        layer.forward = checkpointed(layer.forward)

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
