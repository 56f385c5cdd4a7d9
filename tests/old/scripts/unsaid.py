"""A checkpoint in 16 bits is loaded without a type, and SFTConfig is told nothing that it has a default for."""

import checkpoint
import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, and save nothing."""
    folder = tiny.output_folder()
    base = checkpoint.write(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(**checkpoint.quiet(folder)),
    )
    trainer.train()


if __name__ == "__main__":
    main()
