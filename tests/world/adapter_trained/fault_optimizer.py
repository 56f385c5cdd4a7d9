"""Builds its optimizer over half of the adapters: those of the layers that a pattern names."""

import re

import tiny
import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)
# Meant for layers 0 to 3; a character class holds single characters, and this one holds 1 and 3.
PATTERN = r"layers\.[1,3]\..*lora_"


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS))
    named = [tensor for name, tensor in model.named_parameters() if re.search(PATTERN, name)]
    optimizer = torch.optim.AdamW(named, lr=5e-3)

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        optimizers=(optimizer, None),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
