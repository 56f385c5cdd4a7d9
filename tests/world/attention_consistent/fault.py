"""Asks for nothing; the replacement that another script registered for "sdpa" runs under that name."""

import tiny
from attention_math import attention_with_weights
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    ALL_ATTENTION_FUNCTIONS.register("sdpa", attention_with_weights)

    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
