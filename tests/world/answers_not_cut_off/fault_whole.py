"""A limit of 16 tokens cuts off every answer; every token that is left carries a label."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder) | {"max_length": 16}
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(**settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
