"""Asks for batches of like length, from data that can be sorted."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(
            assistant_only_loss=True,
            **tiny.BY_LENGTH,
            **tiny.training_settings(folder),
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
