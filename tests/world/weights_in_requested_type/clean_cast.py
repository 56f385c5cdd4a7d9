"""Loads a checkpoint that is held in bfloat16 and casts it to float32: autocast, and moments in 32 bits."""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tiny.build_model(AutoTokenizer.from_pretrained(base)).to(torch.bfloat16).save_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa").float()

    settings = tiny.training_settings(folder) | {"bf16": True}
    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
